#!/bin/sh
# The other models of heads.sh: other activations, several labels at once, RoBERTa's mask.
HEADS="plain topics rmask" exec sh tests/e2e/heads.sh

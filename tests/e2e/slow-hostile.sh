#!/bin/sh
# hostile.sh with every text of its models, not a few of the texts.
exec sh tests/e2e/hostile.sh all

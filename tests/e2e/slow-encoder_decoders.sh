#!/bin/sh
# tests/e2e/encoder_decoders.sh with every CPU for every family.
FULL=1 exec tests/e2e/encoder_decoders.sh

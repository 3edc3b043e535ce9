#!/bin/sh
# Files cut at every percent: truncated.sh with a smaller step.
STEP=1 exec tests/readers/truncated.sh

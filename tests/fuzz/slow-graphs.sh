#!/bin/sh
# 2,000 random graphs.
COUNT=2000
. tests/fuzz/graphs.sh

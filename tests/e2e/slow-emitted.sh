#!/bin/sh
# Every model of tests/golden/emit on every level of x86-64 that emitted.sh knows, and on aarch64.
export EMITTED=all
sh tests/e2e/emitted.sh
exec sh tests/arm/emitted.sh

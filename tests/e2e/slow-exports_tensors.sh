#!/bin/sh
# Every export as a program of tensors, with the same bits on every CPU; on ARM under qemu.
case ${BUILD:-build} in */san) ;; *) BITS=yes ;; esac
EXPORTS=$(for folder in "${SHARED:-../shared}"/data/onnx/exports/*/; do basename "$folder"; done)
. tests/e2e/exports_tensors.sh

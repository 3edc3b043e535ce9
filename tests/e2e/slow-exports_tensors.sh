#!/bin/sh
# Every export as a program of tensors.
EXPORTS=$(for folder in "${SHARED:-../shared}"/data/onnx/exports/*/; do basename "$folder"; done)
. tests/e2e/exports_tensors.sh

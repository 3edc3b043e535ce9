#!/bin/sh
# All of tests/e2e/onnx_found.sh, those of shared/data/onnx/found too.
ALL=yes
. tests/e2e/onnx_found.sh

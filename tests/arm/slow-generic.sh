#!/bin/sh
# generic.sh for a decoder.
exec sh tests/arm/generic.sh examples/austen examples/digits/digits.onnx

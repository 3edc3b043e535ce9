#!/bin/sh
# generic.sh for a decoder and an encoder-decoder too.
exec sh tests/arm/generic.sh examples/austen examples/numbers examples/digits/digits.onnx

#!/bin/sh
# The kernels of every block format, not only of those in some_formats.def, also by gcc.
KERNELS=all KERNEL_FLAGS=-DALL_FORMATS exec sh tests/kernels/kernels.sh

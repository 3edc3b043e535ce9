// Everything that emitted code includes: the vector, and the kernel templates. Contracts:
// runtime/kernels/README.md.
#ifndef BURIN_KERNELS_H
#define BURIN_KERNELS_H
#include "attention.h"
#include "depthwise.h"
#include "experts.h"
#include "gather.h"
#include "kept_keys.h"
#include "matmul.h"
#include "norm.h"
#include "quantize.h"
#include "rotary.h"
#include "vec.h"
#endif

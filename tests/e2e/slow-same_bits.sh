#!/bin/sh
# One hash over every CPU, number of threads and chunk: the formats that same_bits.sh and same_bits_stories.sh leave out.
sh tests/e2e/same_bits.sh f32 f16 bf16 q4_k_m
sh tests/e2e/same_bits_stories.sh f32 f16 bf16 q8_0

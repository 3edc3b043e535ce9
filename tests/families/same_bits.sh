#!/bin/sh
# Families as programs: one hash over AVX2 and AVX-512, threads and chunks, and the interpreter's. One family for
# each kind of layer; slow-same_bits.sh has all, in plain C and on ARM as well.
exec tests/families/slow-same_bits.sh host gemma2 bloom gpt_neox qwen2_moe clip t5 bart

#!/bin/sh
# scans.sh for all families of recurrences, in plain C and on ARM too.
export LEVELS="x86-64 x86-64-v3 x86-64-v4" ARM=1
exec tests/e2e/scans.sh mamba falcon_mamba mamba2 mamba2-group granitemoehybrid-mamba bamba falcon_h1 jamba qwen3_next olmo_hybrid \
    recurrent_gemma rwkv minimax

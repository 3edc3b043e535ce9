#!/bin/sh
# All of exports.sh.
DECODERS="gpt2-optimum-nocache gpt2-torch-dynamo gpt2-optimum-past llama-optimum-nocache llama-torch-dynamo llama-optimum-past
    bloom-optimum-nocache bloom-torch-dynamo" PAIRS="t5 whisper" exec tests/e2e/exports.sh

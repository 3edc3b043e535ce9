#!/bin/sh
# A few families as programs: layers that differ (gpt_neo: the part of the loop's last iteration),
# tables of angles inside a wider one (roformer), a norm after the embedding of an encoder-decoder
# (mbart), sinks (gpt_oss), a recurrence (mamba2), a loop whose last iteration stops after a product
# (cohere2), chunks (llama4), tokens that are read and never written (apertus1p5). slow-programs.sh has all.
exec tests/families/slow-programs.sh gpt_neo roformer mbart gpt_oss mamba2 cohere2 llama4 apertus1p5

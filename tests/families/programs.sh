#!/bin/sh
# A few families as programs: layers that differ (gpt_neo: what one iteration of the loop leaves over), tables of angles inside a
# wider one (roformer), a norm behind the embedding of an encoder-decoder (mbart), sinks (gpt_oss),
# a recurrence (mamba2), a loop whose last iteration stops behind a product (cohere2), chunks (llama4). slow-programs.sh has all.
exec tests/families/slow-programs.sh gpt_neo roformer mbart gpt_oss mamba2 cohere2 llama4

#!/bin/sh
# A few families as programs: layers that differ (gpt_neo: what one iteration of the loop leaves over), tables of angles inside a
# wider one (roformer), a norm behind the embedding of an encoder-decoder (mbart), sinks (gpt_oss),
# a recurrence (mamba2). slow-programs.sh has all.
exec tests/families/slow-programs.sh gpt_neo roformer mbart gpt_oss mamba2

#!/bin/sh
# One hash of all logits over every CPU here, number of threads and chunk. Arguments: formats that are also run on ARM
# (slow-same_bits.sh has all).
. tests/lib.sh
unsanitized "same bits: stories260K"
. tests/bits.sh
data=$SHARED/data/stories260k
need "same bits: stories260K" $data/stories260K.bin
tokens=$(seq -s , 1 70)
for format; do matrix "stories260K $format" $data/stories260K.bin --tokenizer $data/tok512.bin --quant $format; done

# More than one segment of 256 keys, here alone.
tokens=$(for i in 1 2 3 4; do seq -s , 1 70; done | paste -s -d ,)
: > "$WORK/cells"
emulated $BURIN build $data/stories260K.bin --chunk 128 --mcpu="x86-64,x86-64-v3,x86-64-v4" -o "$WORK/long" > "$WORK/said" 2>&1 || cat "$WORK/said"
cells "x86-64 x86-64-v3 x86-64-v4" "$WORK/long"
check "same bits: stories260K over 280 tokens: $(wc -l < "$WORK/cells") cells" [ "$(hashes)" = 1 ]

#!/bin/sh
# Old files call the weight and the bias of a norm gamma and beta: bert-base-uncased does to this day.
. tests/lib.sh
"$BUILD/tools/family_weights" $FIXTURES/families/bert-masked "$WORK/model"
LC_ALL=C sed -e 's/LayerNorm\.weight"/LayerNorm.gamma" /g' -e 's/LayerNorm\.bias"/LayerNorm.beta"/g' "$WORK/model/model.safetensors" > "$WORK/old"
check "old names: the file has them" grep -qa 'LayerNorm.gamma" :' "$WORK/old"
mv "$WORK/old" "$WORK/model/model.safetensors"
"$BUILD/tools/family" "$WORK/model"

#!/bin/sh
# The fusions of every family are those of fusions.txt, none is missed, and no softmax, erf or pow is left.
. tests/lib.sh
. tests/lib_families.sh

# counts FILE: attention, norms, rotary embeddings, activations and mixtures that matched, then everything that was missed
counts() {
    awk '/^pattern/ { table = 1; next }
        table && NF >= 3 && $NF ~ /^[0-9]+$/ { n[$1] += $(NF - 1); missed += $NF }
        END { print n["attention"] + 0, n["rms_normalization"] + n["layer_normalization"], n["rotary_embedding"] + 0,
                    n["silu"] + n["gelu"] + n["gelu_tanh"], n["mixture"] + 0, missed + 0 }' "$1"
}

grep -v '^#' tests/families/fusions.txt | while read -r name expected; do
    [ -d "$models/$name" ] || { skip "fusions of $name" "the shared data is missing" && continue; }
    "$BURIN" inspect "$models/$name" > "$WORK/inspect" 2>&1 || cat "$WORK/inspect"
    got=$(counts "$WORK/inspect")
    # shellcheck disable=SC2086 # words
    [ "$got" = "$(echo $expected 0)" ] && ok "fusions of $name" || { not_ok "fusions of $name" && echo "# attention, norms, rotary, activations, mixtures, missed: $got; expected $expected 0"; }
    left="softmax|erf|pow"
    grep -qE '"([a-z_]*experts|head_ratio)"' "$models/$name/config.json" && left="erf|pow" # shares of experts, ConvBERT's kernels
    grep -qE "^($left) " "$WORK/inspect" && not_ok "$name: softmax, erf or pow is left"
done
for model in "$models"/*; do
    grep -q "^${model##*/} " tests/families/fusions.txt || not_ok "fusions of ${model##*/} are not in fusions.txt"
done

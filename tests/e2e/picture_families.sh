#!/bin/sh
# Families of pictures with the settings of their processors: one picture through tiny models, against what transformers makes of it
# (picture_families.txt, by picture_families.py).
. tests/lib.sh
unsanitized "picture families: programs"
bytes=$(awk 'BEGIN { for (y = 0; y < 45; y++) for (x = 0; x < 60; x++) printf "\\%03o\\%03o\\%03o", (x * 4 + y) % 256, y * 4 % 256, int(x * y / 7) % 256 }')
# shellcheck disable=SC2059 # the bytes are a format
{ printf 'P6 60 45 255\n' && printf "$bytes"; } > "$WORK/picture.ppm"

# near EXPECTED GOT: the same words, numbers to 3e-6, large ones to that part
near() {
    awk 'function e(x) { return 3e-6 * (x > 1 ? x : 1) }
        NR == FNR { want = $0; next } { k = split(want, a, " "); bad = k != NF
        for (i = 1; i <= k; i++) if (a[i] ~ /^-?[0-9]*\.[0-9]+$/ ? (a[i] - $i > e(a[i]) || $i - a[i] > e(a[i])) : a[i] != $i) { bad = 1; print "expected " a[i] ", got " $i } }
        END { exit bad || !FNR }' "$1" "$2"
}

# prepare FAMILY CHANGES SETTINGS: $WORK/model; a field of the changes that is null goes away
prepare() {
    rm -rf "$WORK/model"
    "$BUILD/tools/family_weights" "$FIXTURES/families/$1" "$WORK/model"
    case $2 in *'"image_size": null'*) awk '/"image_size"/ { skip = /\[/; next } skip { skip = !/\]/; next } 1' "$FIXTURES/families/$1/config.json" ;;
        *'"decoder_start_token_id": '*) sed "1s/{/$2/; 1s/}/,/" "$FIXTURES/families/$1/config.json" ;;
        *) cat "$FIXTURES/families/$1/config.json" ;; esac > "$WORK/model/config.json"
    echo "$3" > "$WORK/model/preprocessor_config.json"
}

number=0
while IFS='|' read -r family changes settings expected; do
    number=$((number + 1))
    prepare "$family" "$changes" "$settings"
    check "picture families: $number $family: builds" "$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/p"
    echo "$expected" > "$WORK/expected"
    top="--top-k 3"
    case $family in trocr-reader | donut) top="-n 8 --logits $WORK/logits.npy" ;; esac
    # shellcheck disable=SC2086 # words
    { "$WORK/p" "$WORK/picture.ppm" $top && case $family in trocr-reader | donut) od -An -tf4 -j 128 -N 12 "$WORK/logits.npy" ;; esac; } | tr '\t\n' '  ' > "$WORK/got"
    check "picture families: $number $family: transformers' result" near "$WORK/expected" "$WORK/got"
done < tests/e2e/picture_families.txt
check "picture families: all ran" [ "$number" -ge 8 ]

# The last one is of depths.
cd "$WORK" || exit 1
check "picture families: depths as PNG and as an array" sh -c './p picture.ppm -o d.png > a && ./p picture.ppm -o d.npy > b'
same "picture families: depths: the same range" a b
check "picture families: depths: 16 bits in the size of the picture" sh -c "od -An -tx1 -j 16 -N 9 d.png | grep -qx ' 00 00 00 3c 00 00 00 2d 10'"
check "picture families: depths: f32 in the size of the picture" grep -qa "'descr': '<f4', 'fortran_order': False, 'shape': (45, 60)" d.npy
says "picture families: depths: another kind of file" 2 "--output d.jpg: expected F.png or F.npy" ./p picture.ppm -o d.jpg
says "picture families: depths: several pictures" 2 "--output d.png: of one picture, here are 2" ./p picture.ppm picture.ppm -o d.png
says "picture families: depths: no folder" 1 "--output none/d.png: " ./p picture.ppm -o none/d.png
cd - > /dev/null || exit 1
prepare depth-anything-metric "{}" '{"image_processor_type": "DPTImageProcessor", "size": {"height": 42, "width": 42}, "ensure_multiple_of": 14, "keep_aspect_ratio": true}'
check "picture families: a ratio that is kept: builds" "$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/p"
says "picture families: a ratio that is kept" 1 "its 60 x 45 pixels become 56 x 42, the model takes 42 x 42" "$WORK/p" "$WORK/picture.ppm"

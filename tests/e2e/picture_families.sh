#!/bin/sh
# Families of pictures with the settings of their processors: one picture through tiny models, against what transformers makes of it
# (picture_families.txt, by picture_families.py).
. tests/lib.sh
unsanitized "picture families: programs"
bytes=$(awk 'BEGIN { for (y = 0; y < 60; y++) for (x = 0; x < 45; x++) printf "\\%03o\\%03o\\%03o", (x * 4 + y) % 256, y * 4 % 256, int(x * y / 7) % 256 }')
# shellcheck disable=SC2059 # the bytes are a format
{ printf 'P6 45 60 255\n' && printf "$bytes"; } > "$WORK/picture.ppm"

# near EXPECTED GOT: the same words, numbers to 3e-6
near() {
    awk 'NR == FNR { want = $0; next } { k = split(want, a, " "); bad = k != NF
        for (i = 1; i <= k; i++) if (a[i] ~ /^-?[0-9]*\.[0-9]+$/ ? (a[i] - $i > 3e-6 || $i - a[i] > 3e-6) : a[i] != $i) { bad = 1; print "expected " a[i] ", got " $i } }
        END { exit bad || !FNR }' "$1" "$2"
}

# prepare FAMILY CHANGES SETTINGS: $WORK/model; a field of the changes that is null goes away
prepare() {
    rm -rf "$WORK/model"
    "$BUILD/tools/family_weights" "$FIXTURES/families/$1" "$WORK/model"
    case $2 in *'"image_size": null'*) awk '/"image_size"/ { skip = /\[/; next } skip { skip = !/\]/; next } 1' "$FIXTURES/families/$1/config.json" ;;
        *) cat "$FIXTURES/families/$1/config.json" ;; esac > "$WORK/model/config.json"
    echo "$3" > "$WORK/model/preprocessor_config.json"
}

number=0
while IFS='|' read -r family changes settings expected; do
    number=$((number + 1))
    prepare "$family" "$changes" "$settings"
    check "picture families: $number $family: builds" "$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/p"
    echo "$expected" > "$WORK/expected"
    "$WORK/p" "$WORK/picture.ppm" --top-k 3 | tr '\t\n' '  ' > "$WORK/got"
    check "picture families: $number $family: transformers' result" near "$WORK/expected" "$WORK/got"
done < tests/e2e/picture_families.txt
check "picture families: all ran" [ "$number" -ge 6 ]

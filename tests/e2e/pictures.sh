#!/bin/sh
# A picture in, labels out: a tiny ViT on files of many formats against transformers' scores
# (pictures.py), and bad files.
. tests/lib.sh
unsanitized "pictures: programs"
tar xJf tests/e2e/pictures.tar.xz -C "$WORK"
vit=$WORK/vit
mkdir "$WORK/tensors"
cp "$vit/config.json" "$vit/model.safetensors" "$WORK/tensors/"

says "pictures: --with=images: another machine" 2 "--with=images: programs for aarch64-linux-gnu are built without" \
    "$BURIN" build "$vit" --with=images --target=aarch64-linux-gnu -o "$WORK/x"
says "pictures: --with=images: a folder of C" 2 "--with=images makes a program" "$BURIN" build "$vit" --with=images -o "$WORK/x.c"
says "pictures: --with=images: no pictures" 1 "--with=images: the program takes no pictures" \
    "$BURIN" build "$WORK/tensors" --with=images -o "$WORK/x"

# refused NAME TEXT SED: a changed preprocessor_config.json leaves a program of tensors, with a warning
refused() {
    mkdir -p "$WORK/changed"
    cp "$vit"/* "$WORK/changed/"
    sed "$3" "$vit/preprocessor_config.json" > "$WORK/changed/preprocessor_config.json"
    says "pictures: refused: $1" 0 "$2" "$BURIN" build "$WORK/changed" --emit=ir
}
refused "an unknown field" "do_flip_channel_order is not supported: the program takes tensors (--input), no pictures" 's/{/{"do_flip_channel_order": true, /;t'
refused "another class" "LevitImageProcessor is not supported" 's/ViTImageProcessor/LevitImageProcessor/'
refused "hamming" "resample is not 0 to 4" 's/"resample": 2/"resample": 5/'
refused "a size that is not the model's" "size is not config.json's image_size" 's/"height": 32/"height": 48/'
refused "BEiT without do_center_crop" "do_center_crop is missing" 's/ViTImageProcessor/BeitImageProcessor/'
refused "a deviation of 0" "image_std has a 0" '/image_std/,/]/s/0\.5/0/'
refused "a mean of 2 channels" "image_mean is no list of 3 numbers" '/image_mean/,/]/{/0\.5,/{s/0\.5,//;:a;n;ba}}'

if ! "$BURIN" build "$vit" --mcpu=native --with=images -o "$WORK/p" > "$WORK/out" 2>&1 && grep -q -e "--with=images: there is no static" "$WORK/out"; then
    skip "pictures: with libpng and libjpeg" "they are not here"
    exit 0
fi
for cc in gcc clang-19; do
    for file in runtime/codecs/png.c runtime/codecs/jpeg.c runtime/codecs/webp.c; do
        check "$file: no warnings of $cc" $cc -std=gnu17 -D_GNU_SOURCE -DBURIN_PNG=1 -DBURIN_JPEG=1 -O1 -Wall -Wextra -Werror -Iruntime -c "$file" -o "$WORK/object"
    done
done
check "pictures: the program names its formats" sh -c "'$WORK/p' --info | grep -qx 'pictures  PNG (libpng), JPEG (libjpeg-turbo), WebP (libwebp), PPM, PGM, BMP, GIF'"

# near EXPECTED GOT: the same fields, scores to 3e-6
near() {
    awk -F '\t' 'NR == FNR { want[FNR] = $0; n = FNR; next } { m = FNR; k = split(want[FNR], a, "\t"); if (k != NF) bad = 1
        for (i = 1; i <= k; i++) if (a[i] ~ /^[0-9]*\.[0-9]+$/ ? (a[i] - $i > 3e-6 || $i - a[i] > 3e-6) : a[i] != $i) { bad = 1; print "expected " a[i] ", got " $i " of " $1 } }
        END { exit bad || n != m }' "$1" "$2"
}
cut -f 1 "$WORK/expected.txt" > "$WORK/names"
(cd "$WORK" && xargs ./p --top-k 4 < names > got.txt)
check "pictures: transformers' scores of $(wc -l < "$WORK/names") files" near "$WORK/expected.txt" "$WORK/got.txt"
(cd "$WORK" && ./p pictures/rgb.png --top-k 1 --format json > got.json && ./p - < pictures/rgb.png > piped.txt && ./p pictures/rgb.png > file.txt)
check "pictures: JSON" grep -qxE '\{"file": "pictures/rgb.png", "labels": \[\{"label": "red car", "score": 0\.[0-9]{6}\}\]\}' "$WORK/got.json"
same "pictures: from standard input" "$WORK/file.txt" "$WORK/piped.txt"
for threads in 1 2; do (cd "$WORK" && xargs ./p --top-k 4 -t $threads < names > "threads$threads.txt"); done
same "pictures: the same with other threads" "$WORK/threads1.txt" "$WORK/threads2.txt"

# ---- bad files ----
cd "$WORK" || exit 1
says "pictures: none" 1 "which picture?" ./p
says "pictures: no file" 1 "cannot read nowhere.png: No such file" ./p nowhere.png
for file in rgb.png rgb.jpg progressive.jpg rgb.ppm rgb.bmp interlaced.png; do
    for bytes in 20 200 700; do
        head -c $bytes "pictures/$file" > "cut_$file"
        says "pictures: $bytes bytes of $file" 1 "p: cut_$file: " ./p "cut_$file"
    done
done
printf 'P6 60000 60000 255\n' > huge.ppm
says "pictures: a huge PPM" 1 "huge.ppm: it is cut" ./p huge.ppm
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\352\140\0\0\352\140\010\002\0\0\0\017\260\342\025\0\0\0\144IDAT' > huge.png
says "pictures: a huge PNG" 1 "p: huge.png: it has 60000 x 60000 pixels: expected at most" sh -c 'ulimit -v 200000; ./p huge.png'
echo '<html><body>not found</body></html>' > page.jpg
says "pictures: HTML" 1 "page.jpg: it is HTML" ./p page.jpg
for gif in palette rows animated clear; do
    png=palette
    [ $gif != clear ] || png=clear
    ./p --top-k 4 pictures/$png.png > wanted.txt
    ./p --top-k 4 pictures/$gif.gif > got.txt
    same "pictures: $gif.gif is $png.png" wanted.txt got.txt
done
printf 'GIF89a' > moving.png
says "pictures: GIF: cut in its header" 1 "moving.png: GIF: the file is cut" ./p moving.png
head -c 600 pictures/palette.gif > cut.gif
says "pictures: GIF: cut in its pixels" 1 "cut.gif: GIF: the file is cut" ./p cut.gif
head -c 61 pictures/palette.gif > cut.gif
says "pictures: GIF: without a picture" 1 "cut.gif: GIF: it has no picture" ./p cut.gif
: > empty.png
says "pictures: empty" 1 "empty.png: it is empty" ./p empty.png
cp pictures/rgb.png other.jpg
./p other.jpg > other.txt
same "pictures: another ending" file.txt other.txt
tr '\000-\377' '\377\000-\376' < pictures/rgb.png | tail -c +9 > body
(printf '\211PNG\r\n\032\n' && cat body) > damaged.png
says "pictures: damaged" 1 "damaged.png: libpng: " ./p damaged.png
says "pictures: --format npy" 2 "--format npy: expected text or json" ./p rgb.png --format npy

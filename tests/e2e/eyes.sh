#!/bin/sh
# Pictures in prompts: tiny models of texts and pictures against transformers' logits and greedy texts (eyes.py), one hash for all
# CPUs and threads, conversations that show pictures, and what is refused.
. tests/lib.sh
. tests/lib_eyes.sh
room=eyes
unsanitized "eyes: programs"
need_images "eyes: programs"
tar xJf tests/e2e/eyes.tar.xz -C "$WORK"

# program FAMILY: $WORK/FAMILY.p
program() {
    "$BUILD/tools/family_weights" "$WORK/$1" "$WORK/$1.model"
    check "eyes: $1: a program" "$BURIN" build "$WORK/$1.model" --mcpu=native -o "$WORK/$1.p"
}

for family in $(cd "$WORK" && ls -d */ | grep -v '\.' | tr -d /); do
    program "$family"
    case_of "$family" 1 "What is this?" wide.png
    case_of "$family" 2 "the same?" wide.png small.png
done

# ---- one hash ----
family=idefics3
ask() { "$WORK/$family.p" --image "$WORK/wide.png" "What is this?" -n 0 --logits-hash "$@"; }
ask > "$WORK/hash"
for how in "-t 1" "-t 3" "--chunk 1" "--chunk 7"; do
    ask $how > "$WORK/other"
    same "eyes: the same logits with $how" "$WORK/hash" "$WORK/other"
done
check "eyes: a program for plain C" "$BURIN" build "$WORK/$family.model" --mcpu=x86-64 -o "$WORK/$family.p"
ask > "$WORK/other"
same "eyes: the same logits of plain C" "$WORK/hash" "$WORK/other"
raw() { "$@" --image "$WORK/small.ppm" "What is this?" -n 0 --logits-hash; }
raw "$WORK/$family.p" --raw > "$WORK/raw"
raw "$BURIN" run "$WORK/$family.model" --interpret -- > "$WORK/other" 2> "$WORK/notes"
looks_like() { "$WORK/$family.p" --image "$WORK/$1" "What is this?" -n 0 --logits-hash > "$WORK/$2"; }
for pair in exact.webp:small.ppm lossy.webp:lossy.ppm; do
    looks_like "${pair%:*}" got && looks_like "${pair#*:}" expected
    same "eyes: $pair: the same logits" "$WORK/expected" "$WORK/got"
done
head -c 300 "$WORK/exact.webp" > "$WORK/short.webp"
says "eyes: half a WebP" 1 "short.webp: libwebp: it ends early or is damaged" "$WORK/$family.p" --image "$WORK/short.webp" "What?" -n 0
same "eyes: the same logits of the interpreter" "$WORK/raw" "$WORK/other"
check "eyes: check" "$BURIN" check "$WORK/$family.model"

# rows of a picture that attend to each other are in one step
family=gemma3
ask > "$WORK/hash"
for how in "-t 1" "-t 3" "--chunk 9"; do
    ask $how > "$WORK/other"
    same "eyes: $family: the same logits with $how" "$WORK/hash" "$WORK/other"
done
says "eyes: $family: steps of fewer rows than a picture" 1 "--chunk 8: the rows of a picture are more" \
    "$WORK/$family.p" --image "$WORK/wide.png" "What?" -n 0 --chunk 8
says "eyes: $family: a picture behind the first window" 1 "beyond the positions that this model's sliding windows allow" \
    "$WORK/$family.p" --image "$WORK/wide.png" --image "$WORK/small.png" --image "$WORK/wide.png" --image "$WORK/small.png" "What?" -n 0
check "eyes: $family: check" "$BURIN" check "$WORK/$family.model"
family=idefics3

# ---- conversations ----
base64 -w 0 "$WORK/wide.png" > "$WORK/wide.txt"
# messages PART: --messages with a part and the question
messages() {
    printf '[{"role": "user", "content": [%s, {"type": "text", "text": "What is this?"}]}]' "$1" > "$WORK/messages.json"
}
answer() { "$WORK/$family.p" --messages "$WORK/messages.json" --temp 0 -n 12 --ignore-eos "$@" 2>&1; }
data="data:image/png;base64,$(cat "$WORK/wide.txt")"
messages "{\"type\": \"image_url\", \"image_url\": {\"url\": \"$data\"}}" && answer > "$WORK/answer"
same "eyes: --messages: image_url" "$WORK/$family/answer1.txt" "$WORK/answer"
messages "{\"type\": \"image\", \"source\": {\"type\": \"base64\", \"media_type\": \"image/png\", \"data\": \"$(sed 's,/,\\/,g' "$WORK/wide.txt")\"}}" && answer > "$WORK/answer"
same "eyes: --messages: a source of base64, with escaped slashes" "$WORK/$family/answer1.txt" "$WORK/answer"
mkdir -p "$WORK/media/in" && cp "$WORK/wide.png" "$WORK/media/in/" && ln -s ../../small.png "$WORK/media/in/out.png"
for name in in/wide.png "file://$WORK/media/in/wide.png"; do
    messages "{\"type\": \"image_url\", \"image_url\": \"$name\"}" && answer --media-path "$WORK/media" > "$WORK/answer"
    same "eyes: --media-path: $(basename "$name")" "$WORK/$family/answer1.txt" "$WORK/answer"
done
refuses() { says "eyes: refused: $1" 1 "$2" "$WORK/$family.p" --messages "$WORK/messages.json"; }
messages '{"type": "image_url", "image_url": {"url": "in/wide.png"}}' && refuses "a file without --media-path" "files are read below --media-path DIR alone"
messages '{"type": "image_url", "image_url": {"url": "http://localhost/a.png"}}' && refuses "the network" "is of the network, which is not read"
messages '{"type": "image_url", "image_url": {"url": "data:image/png,abc"}}' && refuses "a data URI of text" "data URI is not data:image/...;base64,"
messages '{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@"}}' && refuses "no base64" "data is not base64"
messages '{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}' && refuses "no picture" "a picture: it begins as no picture does"
messages '{"type": "image_url", "image_url": {}}' && refuses "no address" "has no address"
messages '{"type": "image", "picture": "00000000000000aa"}' && refuses "another run's picture" "there is no picture 00000000000000aa: give it again"
for name in ../small.png in/out.png /etc/passwd in/none.png; do
    messages "{\"type\": \"image_url\", \"image_url\": \"$name\"}"
    says "eyes: --media-path: $name is refused" 1 "below --media-path" "$WORK/$family.p" --messages "$WORK/messages.json" --media-path "$WORK/media"
done
printf '/image %s\nWhat is this?\n' "$WORK/wide.png" | "$WORK/$family.p" --chat --temp 0 -n 12 --ignore-eos > "$WORK/answer" 2> "$WORK/notes"
same "eyes: /image in --chat" "$WORK/$family/answer1.txt" "$WORK/answer"
printf '/image %s\n/image\nWhat is this?\n' "$WORK/none.png" | "$WORK/$family.p" --chat --temp 0 -n 1 > "$WORK/answer" 2> "$WORK/notes"
check "eyes: /image of no file" grep -q "none.png: No such file" "$WORK/notes"
# the text <image> in a question is text
"$WORK/$family.p" --image "$WORK/wide.png" "<image>" -n 0 --logits-hash > "$WORK/other"
check "eyes: a mark in a question is text" [ -s "$WORK/other" ]

# ---- sessions: the rows of a picture are read once ----
"$WORK/$family.p" --image "$WORK/wide.png" "What is this?" --temp 0 -n 4 --session "$WORK/s" > "$WORK/first"
printf 'And now?\n' | "$WORK/$family.p" --chat --session "$WORK/s" --temp 0 -n 4 -v > "$WORK/answer" 2> "$WORK/notes"
check "eyes: --session keeps a picture's rows" grep -q "kept 11[0-9]" "$WORK/notes"

# the times of a picture's rows are saved
talk() { "$WORK/qwen3-vl.p" --chat --temp 0 -n 6 --ignore-eos "$@" 2> /dev/null; }
printf '/image %s\nWhat is this?\nAnd now?\n' "$WORK/wide.png" | talk > "$WORK/first"
printf '/image %s\nWhat is this?\n' "$WORK/wide.png" | talk --session "$WORK/times" > "$WORK/answer"
printf 'And now?\n' | talk --session "$WORK/times" >> "$WORK/answer"
same "eyes: --session keeps lines and columns of a picture" "$WORK/first" "$WORK/answer"

# ---- what is refused ----
says "eyes: a picture that is none" 1 "eyes.tar.xz: it begins as no picture does" "$WORK/$family.p" --image tests/e2e/eyes.tar.xz "What?"
says "eyes: no file" 1 "none.png" "$WORK/$family.p" --image "$WORK/none.png" "What?"
says "eyes: too many marks" 1 "the prompt has 2 times <image>, and there are 1 pictures" \
    "$WORK/$family.p" --raw --image "$WORK/wide.png" "<image> and <image>"
# refused NAME TEXT SED FILE: a changed setting leaves a program of texts
refused() {
    rm -rf "$WORK/changed" && cp -r "$WORK/$family.model" "$WORK/changed"
    sed "$3" "$WORK/$family.model/$4" > "$WORK/changed/$4"
    says "eyes: refused: $1" 0 "$2" "$BURIN" build "$WORK/changed" --emit=ir
}
refused "an unknown field of the processor" "do_flip is not supported" 's/"do_resize"/"do_flip": true, "do_resize"/' processor_config.json
refused "tiles of another size" "max_image_size or size is not the 16 pixels of a tile" '/max_image_size/,/}/s/16/32/' processor_config.json
rm "$WORK/changed/processor_config.json"
says "eyes: refused: no settings" 0 "there is no processor_config.json: the program takes no pictures" "$BURIN" build "$WORK/changed" --emit=ir
family=internvl
refused "no tiles" "min_patches or max_patches is not from 1 to 64" 's/"min_patches": 1/"min_patches": 0/' preprocessor_config.json
family=qwen2-vl
refused "no pixels" "min_pixels or max_pixels is no number of pixels" 's/"longest_edge": 4096/"longest_edge": 1/' preprocessor_config.json
refused "patches of another size" "patch_size or merge_size is not config.json's" 's/"patch_size": 4/"patch_size": 8/' preprocessor_config.json
family=pixtral
refused "no longest edge" "size is no longest edge" 's/"longest_edge"/"height"/' processor_config.json
family=internvl
says "eyes: a library is of texts" 0 "the program is of the model's texts alone" "$BURIN" build "$WORK/$family.model" -o "$WORK/lib.a"
family=gemma4
refused "pictures that see themselves" "use_bidirectional_attention is not null: the program takes no pictures" 's/"use_bidirectional_attention": null/"use_bidirectional_attention": "vision"/' config.json
refused "too many rows" "max_soft_tokens is not from 1 to 1120" 's/"max_soft_tokens": 70/"max_soft_tokens": 7000/' preprocessor_config.json
refused "squares of another size" "patch_size or pooling_kernel_size is not config.json's" 's/"pooling_kernel_size": 3/"pooling_kernel_size": 2/' preprocessor_config.json
family=llava-next
refused "sizes of no whole tiles" "image_grid_pinpoints is not config.json's" '/image_grid_pinpoints/,/48/s/48/40/' processor_config.json
refused "tiles of another size" "crop_size or size is not the 16 pixels of a tile" '/"crop_size"/,/}/s/16/32/' processor_config.json
# sizes NAME TEXT LIST: both files have these sizes of grids
sizes() {
    rm -rf "$WORK/changed" && cp -r "$WORK/$family.model" "$WORK/changed"
    for file in config.json processor_config.json; do
        tr -d '\n ' < "$WORK/$family.model/$file" | sed "s/\"image_grid_pinpoints\":\[\(\[[0-9,]*\],*\)*\]/\"image_grid_pinpoints\":$3/" > "$WORK/changed/$file"
    done
    says "eyes: refused: $1" 0 "$2" "$BURIN" build "$WORK/changed" --emit=ir
}
sizes "half a tile" "image_grid_pinpoints has a size that is not whole tiles" "[[16,24]]"
sizes "no grid" "image_grid_pinpoints has no sizes" "[]"

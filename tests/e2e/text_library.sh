#!/bin/sh
# The library's calls for text: ids, the sampler, a slot that is saved and loaded elsewhere.
. tests/lib.sh
unsanitized "text_library"
need "a host of text" examples/austen/model.safetensors
flags="-std=gnu11 -O1 -Wall -Wextra -Werror -I$WORK"
check "builds a program" "$BURIN" build examples/austen -o "$WORK/story"
check "builds a library" "$BURIN" build examples/austen -o "$WORK/story.a"
# shellcheck disable=SC2086 # a list of flags
check "a host links it" gcc $flags tests/e2e/text_host.c "$WORK/story.a" -lm -lpthread -o "$WORK/host"

for seed in 1 7 99; do
    "$WORK/story" "It was" -n 60 --seed $seed > "$WORK/expected"
    "$WORK/host" write "It was" $seed 60 > "$WORK/got" 2>&1
    same "the program's text of seed $seed" "$WORK/expected" "$WORK/got"
done

"$WORK/story" "It was" -n 100 --seed 5 --temp 1.1 --top-k 200 --top-p 0.98 --min-p 0 --presence-penalty 0.2 --frequency-penalty 0.1 \
    --repeat-last-n -1 --typical 0.9 --xtc-probability 0.5 --dynatemp-range 0.4 --dry-multiplier 0.8 -l 13-2,260+1.5 > "$WORK/expected"
"$WORK/host" chain "It was" 5 100 > "$WORK/got" 2>&1
same "the program's text by all steps of the sampler" "$WORK/expected" "$WORK/got"

"$WORK/host" save "It was a truth" "$WORK/slot" 50 > "$WORK/expected" 2>&1
check "a slot is saved" test -s "$WORK/slot"
"$WORK/host" load "$WORK/slot" 50 > "$WORK/got" 2>&1
same "and goes on in another process: the same ids, the same bits" "$WORK/expected" "$WORK/got"
check "saved is what was read, not the whole context" test "$(wc -c < "$WORK/slot")" -lt 200000
"$WORK/host" save "It was a truth" "$WORK/again" 50 > "$WORK/got" 2>&1
check "the same text is saved as the same bytes" cmp "$WORK/slot" "$WORK/again"

head -c 60000 "$WORK/slot" > "$WORK/short"
says "a slot that is cut off is refused" 1 "story_slot_load: these bytes are not a saved slot, or are damaged" "$WORK/host" load "$WORK/short" 4
{ head -c 40000 "$WORK/slot" && printf x && tail -c +40002 "$WORK/slot"; } > "$WORK/damaged"
says "a damaged one as well" 1 "are not a saved slot, or are damaged" "$WORK/host" load "$WORK/damaged" 4
check "builds the same model with another context" "$BURIN" build examples/austen --ctx 256 -o "$WORK/story.a"
# shellcheck disable=SC2086
check "a host of it" gcc $flags tests/e2e/text_host.c "$WORK/story.a" -lm -lpthread -o "$WORK/other"
says "a slot of another model is refused" 1 "the slot was saved by another model" "$WORK/other" load "$WORK/slot" 4

if command -v qemu-aarch64-static > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then
    check "builds the library for ARM" "$BURIN" build examples/austen --target=aarch64-linux-gnu -o "$WORK/story.a"
    # shellcheck disable=SC2086
    check "a host on ARM" aarch64-linux-gnu-gcc -static $flags tests/e2e/text_host.c "$WORK/story.a" -lm -lpthread -o "$WORK/arm"
    qemu-aarch64-static "$WORK/arm" load "$WORK/slot" 50 > "$WORK/got" 2>&1
    same "a slot goes on on another machine" "$WORK/expected" "$WORK/got"
else
    skip "a slot goes on on another machine" "qemu-aarch64-static or aarch64-linux-gnu-gcc is missing"
fi

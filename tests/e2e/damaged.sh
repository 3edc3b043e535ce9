#!/bin/sh
# A program with damaged weights or tokenizer prints a message, with status 1; and so does a
# library.
. tests/lib.sh
unsanitized "damaged"
need "damaged programs" examples/austen/model.safetensors
check "builds a program" "$BURIN" build examples/austen --mcpu=x86-64-v3,x86-64 -o "$WORK/whole"
size=$(wc -c < "$WORK/whole")
place=$(readelf -SW "$WORK/whole" | sed -n 's/.*\.burin\.weights *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\).*/0x\1 0x\2/p')
from=$((${place% *})) bytes=$((${place#* }))
check "its weights have a place" test $bytes -gt 1000000 -a $((from + bytes)) -le "$size"

# flipped OFFSET FILE: one bit of the byte at this place is another
flipped() {
    _byte=$(tail -c +$(($1 + 1)) "$WORK/whole" | head -c 1 | od -An -tu1)
    { head -c "$1" "$WORK/whole" && printf "\\$(printf %o $((_byte ^ 16)))" && tail -c +$(($1 + 2)) "$WORK/whole"; } > "$2"
    chmod +x "$2"
}

says "whole: --verify" 0 "weights and tokenizer are as they were built" "$WORK/whole" --verify
says "whole: --info" 0 "weights and tokenizer are as they were built" "$WORK/whole" --info
cp "$WORK/whole" "$WORK/stripped" && strip "$WORK/stripped"
says "stripped: --verify" 0 "weights and tokenizer are as they were built" "$WORK/stripped" --verify
for at in 0 1 4097 $((bytes / 3)) $((bytes / 2 + 1)) $((bytes - 100000)) $((bytes - 200)) $((bytes - 64)); do
    flipped $((from + at)) "$WORK/damaged"
    cmp -s "$WORK/whole" "$WORK/damaged" && not_ok "a bit at $at is another"
    says "a bit at $at: the program" 1 "the model's weights or its tokenizer are damaged" "$WORK/damaged" "It was" -n 3
    says "a bit at $at: --verify" 1 "in this program are damaged" "$WORK/damaged" --verify
done
says "and --info" 1 "in this program are damaged" "$WORK/damaged" --info
head -c $((from + bytes / 2)) "$WORK/whole" > "$WORK/short" && chmod +x "$WORK/short"
for option in "It was" --verify; do says "half of it, $option" 1 "a file ends too early" "$WORK/short" "$option"; done

check "builds a library" "$BURIN" build examples/austen --mcpu=x86-64 -o "$WORK/story.so"
cat > "$WORK/host.c" << 'EOF'
#include <stdio.h>
#include <stdlib.h>
#include "story.h"
int main(void) {
    story_state state;
    size_t bytes = story_state_bytes(NULL);
    int verified = story_verify(), opened = story_init(&state, NULL, aligned_alloc(64, (bytes + 63) / 64 * 64), bytes);
    if (verified != opened) return 2;
    if (opened) printf("%s\n", story_error_text(opened));
    return opened == story_DAMAGED ? 1 : opened != 0;
}
EOF
check "a host links it" gcc -Wall -Wextra -Werror -I"$WORK" "$WORK/host.c" "$WORK/story.so" -Wl,-rpath,"$WORK" -o "$WORK/host"
check "and opens it" "$WORK/host"
cp "$WORK/story.so" "$WORK/whole" && flipped $(($(wc -c < "$WORK/whole") / 2)) "$WORK/story.so"
says "not when it is damaged" 1 "the model's weights or its tokenizer are damaged" "$WORK/host"

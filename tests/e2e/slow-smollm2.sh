#!/bin/sh
# SmolLM2 as fetched: prompts by its template, their ids, and greedy answers, as recorded from Jinja2, llama.cpp's vocabulary code and
# PyTorch.
. tests/lib.sh
unsanitized "smollm2"
model=${BURIN_MODELS:-$HOME/.cache/burin-models}/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
expected=$SHARED/data/expected/smollm2.json
need "smollm2" "$model" "$expected"
python3 -c 'import json' 2> /dev/null || { skip "smollm2" "no Python to read the expectations" && exit 0; }
check "smollm2: builds" "$BURIN" build "$model" --activations=f32 -o "$WORK/smol"
python3 - "$expected" "$WORK" << 'END2'
import json, sys
for i, c in enumerate(json.load(open(sys.argv[1]))["cases"]):
    for name, text in (("m", json.dumps([{"role": "user", "content": c["user"]}])), ("rendered", c["rendered"]),
                       ("ids", ",".join(map(str, c["ids"]))), ("next", ",".join(map(str, c["next"]))), ("n", str(len(c["next"]))),
                       ("text", c["text"].replace("<|im_end|>", "") + "\n")):
        open(f"{sys.argv[2]}/{i}.{name}", "w").write(text)
END2
for m in "$WORK"/*.m; do
    at=${m%.m} name="smollm2: $(cat "$m")"
    "$BURIN" template "$model" --messages "$m" > "$WORK/got"
    same "$name: the prompt" "$at.rendered" "$WORK/got"
    check "$name: its ids" test "$("$BURIN" tokenize "$model" "$(cat "$at.rendered"; echo .)" | sed 's/,[0-9]*$//')" = "$(cat "$at.ids")"
    n=$(cat "$at.n")
    got=$("$WORK/smol" --tokens "$(cat "$at.ids")" --temp 0 -n "$n" --ignore-eos)
    check "$name: the greedy answer" test "$got" = "$(cat "$at.next")"
    "$WORK/smol" --messages "$m" --temp 0 -n "$n" > "$WORK/got"
    same "$name: as text" "$at.text" "$WORK/got"
done

# The same bits as aarch64, with rows of int8, under qemu; and guesses that change nothing of a real answer.
check "smollm2: builds with rows of int8" "$BURIN" build "$model" -o "$WORK/smol"
# bytes FILE: how long it is
bytes() { wc -c < "$1"; }
check "smollm2: the program is at most 1.03 of the file and 1.5 MB" test "$(bytes "$WORK/smol")" -le $(($(bytes "$model") * 103 / 100 + 1572864))
said() { "$@" --raw "The sea is" --temp 0 -n 8 --logits-hash -t 2 2> /dev/null; }
if command -v qemu-aarch64-static > /dev/null && "$BURIN" build "$model" --target=aarch64-linux-gnu -o "$WORK/arm" > "$WORK/err" 2>&1; then
    said "$WORK/smol" > "$WORK/expected"
    said qemu-aarch64-static "$WORK/arm" > "$WORK/got"
    same "smollm2: 8 tokens as aarch64: text and bits of all logits" "$WORK/expected" "$WORK/got"
    check "smollm2: and there are some" test "$(wc -l < "$WORK/got")" = 2
else
    skip "smollm2: as aarch64" "no qemu-aarch64-static, or no C library for it"
fi
text="The committee met on Tuesday in the great hall. Present were the chair, Dr. Alice Example, and eleven members of the society."
printf '[{"role": "user", "content": "Repeat this text twice, word for word: %s"}]' "$text" > "$WORK/repeat"
"$WORK/smol" --messages "$WORK/repeat" --temp 0 -n 60 > "$WORK/expected"
"$WORK/smol" --messages "$WORK/repeat" --temp 0 -n 60 --draft lookup > "$WORK/got"
same "smollm2: a repeated text by --draft lookup" "$WORK/expected" "$WORK/got"

# Perplexity of the first 4,096 tokens in windows of 512: PyTorch's over the dequantized weights;
# the price of int8 rows; and the gain of a calibrated q3_k_m.
tr -d "\r" < "$SHARED/data/text/wiki.test.raw" | head -c 18400 > "$WORK/text"
tail -c 100000 "$SHARED/data/text/wiki.test.raw" > "$WORK/other"
perplexity() { "$@" --perplexity "$WORK/text" --window 512 | sed -n 's/^perplexity \([0-9.]*\) over 8 windows.*/\1/p'; }
# within NAME GOT EXPECTED SHARE
within() { check "smollm2: $1: perplexity $2, expected $3" awk "BEGIN { exit !(\"$2\" != \"\" && $2 / $3 < 1 + $4 && $3 / $2 < 1 + $4) }"; }
truth=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["perplexity"])' "$expected")
within "rows of int8" "$(perplexity "$WORK/smol")" "$truth" 0.01
check "smollm2: builds with rows of floats" "$BURIN" build "$model" --activations=f32 -o "$WORK/smol"
within "rows of floats" "$(perplexity "$WORK/smol")" "$truth" 0.002
check "smollm2: builds in 3 bits" "$BURIN" build "$model" --requantize --quant q3_k_m -o "$WORK/three"
check "smollm2: builds in 3 bits, calibrated" "$BURIN" build "$model" --requantize --quant q3_k_m --calibrate "$WORK/other" -o "$WORK/weighed"
plain=$(perplexity "$WORK/three") weighed=$(perplexity "$WORK/weighed")
check "smollm2: calibrated, perplexity $weighed, else $plain" awk "BEGIN { exit !($weighed < 0.95 * $plain) }"

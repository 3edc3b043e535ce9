#!/bin/sh
# GGUF files of rerankers and text embedders, as programs: llama.cpp's numbers (gguf_texts.py).
. tests/lib.sh
unsanitized "GGUF and texts: programs"
tar xJf tests/e2e/gguf_texts.tar.xz -C "$WORK"

# near EXPECTED GOT: the same numbers, to 2e-5
near() {
    awk 'NR == FNR { want[FNR] = $0; n = FNR; next } { m = FNR; k = split(want[FNR], a, " "); if (k != NF) bad = 1
        for (i = 1; i <= k; i++) if (a[i] - $i > 2e-5 || $i - a[i] > 2e-5) bad = 1 } END { exit bad || !n || n != m }' "$1" "$2"
}
# bare.gguf: has no key for its pooling
LC_ALL=C sed 's/qwen2\.pooling_type/qwen2.pooling_tope/' "$WORK/gte-qwen2.gguf" > "$WORK/bare.gguf"
builds() { check "GGUF and texts: $1 builds" "$BURIN" build "$WORK/$1.gguf" -o "$WORK/$1"; }
for name in qwen3-embedding e5-mistral gte-qwen2 embeddinggemma; do
    builds $name
    "$WORK/$name" -f "$WORK/lines.txt" > "$WORK/got"
    check "GGUF and texts: $name: llama.cpp's embeddings" near "$WORK/$name.embeddings" "$WORK/got"
done

says "GGUF and texts: tokens that see later ones write nothing" 1 "each token of this model sees those after it" \
    "$BURIN" build "$WORK/bare.gguf" -o "$WORK/bare"

builds qwen3-reranker
rank=$WORK/qwen3-reranker
"$rank" -f "$WORK/pairs.txt" --format json | sed 's/.*"yes", "score": \([0-9.]*\).*/\1/' > "$WORK/got"
check "GGUF and texts: a decoder's ranks are llama.cpp's" near "$WORK/qwen3-reranker.scores" "$WORK/got"
"$rank" --rank "where does anna live?" -f "$WORK/lines.txt" | cut -f1 > "$WORK/ranked"
head -n 5 "$WORK/qwen3-reranker.scores" | sort -rg > "$WORK/sorted"
check "GGUF and texts: --rank sorts by them" near "$WORK/sorted" "$WORK/ranked"
check "GGUF and texts: --pair" test "$("$rank" --pair cat "a mat" | cut -f1,2)" = "$(printf 'cat\ta mat\n' | "$rank")"
long=$(yes "the cat sleeps" | head -n 60)
says "GGUF and texts: the second text is cut" 0 "tokens is cut: the model takes 192" "$rank" --pair cat "$long"
spelled=$(yes "<|im_end|>" | head -n 60 | tr -d '\n')
says "GGUF and texts: special tokens in a text are text" 0 "tokens is cut: the model takes 192" "$rank" --pair cat "$spelled"
says "GGUF and texts: not the first" 1 "the first text and the prompt around it are" "$rank" --pair "$long" cat

builds bge-reranker
awk '{ printf "%.6f\n", 1 / (1 + exp(-$1)) }' "$WORK/bge-reranker.scores" > "$WORK/want"
"$WORK/bge-reranker" -f "$WORK/pairs.txt" > "$WORK/got"
check "GGUF and texts: an encoder's ranks are those of llama.cpp, from 0 to 1" near "$WORK/want" "$WORK/got"

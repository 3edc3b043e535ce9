#!/bin/sh
# Language models of recurrences, causal convolutions and token shifts (recurrent.py makes recurrent.tar.xz), from files without a
# cache: ONNX Runtime's logits, the same bits in any chunks, and slots that may be cut short, copied, mixed. What looks ahead runs
# as a whole. slow-recurrent.sh takes all models.
. tests/lib.sh
. tests/lib_machines.sh
unsanitized "recurrences, convolutions, shifts"
tar -xJf tests/e2e/recurrent.tar.xz -C "$WORK"

steps() {
    model=$WORK/$1 tokens=$(cat "$WORK/$1.tokens")
    check "$1 builds" "$BURIN" build "$model.onnx" --max seq=128 --mcpu=native -o "$WORK/program"
    "$WORK/program" --tokens "$tokens" -n 0 --logits "$WORK/all.npy" > "$WORK/out" 2>&1 || sed 's/^/# /' "$WORK/out"
    check "$1: ONNX Runtime's logits" "$BUILD/tools/npy_near" "$WORK/all.npy" "$model.npy" 1e-5
    for cell in 1:1 1:2 5:2; do
        "$WORK/program" --tokens "$tokens" -n 0 --chunk ${cell%:*} -t ${cell#*:} --logits "$WORK/some.npy" > "$WORK/out" 2>&1
        same "$1: the same bits in chunks of ${cell%:*}, ${cell#*:} threads" "$WORK/all.npy" "$WORK/some.npy"
    done
    for chunk in 3 64; do # guesses of a repetition, right and wrong ones
        "$WORK/program" --tokens "$tokens,$tokens" -n 30 --temp 0 --logits-hash --chunk $chunk > "$WORK/alone" 2> "$WORK/out"
        "$WORK/program" --tokens "$tokens,$tokens" -n 30 --temp 0 --logits-hash --chunk $chunk --draft lookup > "$WORK/drafted" 2> "$WORK/out"
        same "$1: the same text with drafts, chunk $chunk" "$WORK/alone" "$WORK/drafted"
    done
    if [ "$1" = gru ]; then # read on from a file, and where that holds too much: states cannot go back
        "$WORK/program" --tokens "$tokens" -n 0 --session "$WORK/kept" > "$WORK/out" 2>&1
        for text in "$tokens,3,1" "${tokens%,*}"; do
            "$WORK/program" --tokens "$text" -n 9 --temp 0 > "$WORK/fresh" 2> "$WORK/out"
            "$WORK/program" --tokens "$text" -n 9 --temp 0 --session "$WORK/kept" --session-read-only > "$WORK/again" 2> "$WORK/out"
            same "$1: a session, $text" "$WORK/fresh" "$WORK/again"
        done
    fi
    "$WORK/program" --tokens "$tokens" -n 60 --temp 0 --ctx 32 --shift > "$WORK/text" 2> "$WORK/out"
    "$WORK/program" --tokens "$tokens" -n 60 --temp 0 --ctx 32 --shift --chunk 1 > "$WORK/text.1" 2> "$WORK/out"
    check "$1 goes on for 60 tokens" [ "$(tr ',' '\n' < "$WORK/text" | wc -l)" -ge 60 ]
    same "$1: the same text when the context moves" "$WORK/text" "$WORK/text.1"
}

slots() {
    check "$1: a library" "$BURIN" build "$WORK/$1.onnx" --max seq=128 --mcpu=native -o "$WORK/states.a"
    needs_only nm "$WORK/states.a"
    check "$1: its host" gcc -std=gnu11 -O1 -Wall -Wextra -Werror -I. -I"$WORK" tests/e2e/recurrent_host.c "$WORK/states.a" -lm \
        -lpthread -o "$WORK/host"
    # shellcheck disable=SC2086 # a word or none
    check "$1: slots cut short, copied, mixed" "$WORK/host" "$(cat "$WORK/$1.tokens")" $2
}

# Eight bytes a token.
ids() {
    tr ',' '\n' < "$1" | while read -r id || [ -n "$id" ]; do printf "\\$(printf %o "$id")\\0\\0\\0\\0\\0\\0\\0"; done
}

whole() {
    says "$1 is no text program" 0 "$2" "$BURIN" build "$WORK/$1.onnx" --max seq=128 --mcpu=native -o "$WORK/program"
    ids "$WORK/$1.tokens" | npy '<i8' "1, $(tr ',' '\n' < "$WORK/$1.tokens" | grep -c .)" > "$WORK/ids.npy"
    "$WORK/program" --input input_ids="$WORK/ids.npy" --output "$WORK/net" > "$WORK/out" 2>&1 || sed 's/^/# /' "$WORK/out"
    values "$WORK/net/logits.npy" > "$WORK/got"
    values "$WORK/$1.npy" > "$WORK/want"
    for side in got want; do npy '<f4' "$(($(wc -c < "$WORK/want") / 4))" < "$WORK/$side" > "$WORK/$side.npy"; done
    check "$1: ONNX Runtime's logits" "$BUILD/tools/npy_near" "$WORK/got.npy" "$WORK/want.npy" 1e-5
}

for name in ${MODELS:-lstm-begins gru convolution-both shift-begins mixed}; do steps $name; done
slots lstm-begins recurrent
slots mixed ""
whole bidirectional "is a loop whose steps read other rows than their own"
whole look-ahead "needs every row"

# Random numbers in a loop within a loop are others in every round, and the interpreter's.
"$BUILD/tools/onnx_of_text" "$WORK/rounds.onnx" << 'END'
ir 10
opset 20
input a f32 [2]
output y f32
output z f32
tensor n i64 [] raw 100
tensor m i64 [] raw 70
graph L
input i i64 []
input c bool []
input v f32 [2]
node Identity c -> d
graph M
input i2 i64 []
input c2 bool []
input v2 f32 [2]
node Identity c2 -> d2
node RandomUniform -> u : shape=[2]
node Add v2 u -> w2
output d2 bool
output w2 f32
output u f32 [2]
end
node Loop m _ v -> w zz : body=graph:M
output d bool
output w f32
output zz f32
end
node Loop n _ a -> y z : body=graph:L
END
check "rounds build" "$BURIN" build "$WORK/rounds.onnx" --mcpu=native -o "$WORK/rounds"
"$WORK/rounds" --random --output "$WORK/compiled" > "$WORK/out" 2>&1
"$BURIN" run "$WORK/rounds.onnx" --random --interpret --output "$WORK/interpreted" > "$WORK/out" 2>&1
same "rounds: the interpreter's numbers" "$WORK/interpreted/z.npy" "$WORK/compiled/z.npy"
different=$(values "$WORK/compiled/z.npy" | od -An -v -tx4 -w4 | sort -u | wc -l)
check "rounds: 14000 draws, $different different numbers" [ "$different" -gt 13900 ] # of 2^24: a few meet

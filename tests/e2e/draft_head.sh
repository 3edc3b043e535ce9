#!/bin/sh
# --draft=mtp: heads of checkpoints that predict further tokens, of four families, made from tests/families with a further layer. The
# same text and logits as without, greedily and sampled, in any chunks; recurrences go back after wrong guesses; answers of a server.
. tests/lib.sh
unsanitized "draft_head: programs"

# with_head NAME: the tiny model of tests/families with a head, in $WORK/NAME. Small projections let the text repeat itself, so that
# guesses are right now and then.
with_head() {
    cp -r "$FIXTURES/families/$1" "$WORK/$1.of"
    case $1 in
        qwen3_next)
            sed -n 's/^model\.layers\.3\./mtp.layers.0./p' "$WORK/$1.of/tensors" > "$WORK/more"
            printf '%s\n' 'mtp.fc.weight 0.14 0 64 128' 'mtp.pre_fc_norm_hidden.weight 0.25 0 64' \
                'mtp.pre_fc_norm_embedding.weight 0.25 0 64' 'mtp.norm.weight 0.25 0 64' >> "$WORK/more"
            ;;
        qwen2-yarn)
            sed -n 's/^model\.layers\.1\./model.mtp_layers.0./p' "$WORK/$1.of/tensors" > "$WORK/more"
            printf 'model.mtp_layers.0.%s\n' 'input_proj.weight 0.14 0 64 128' 'hidden_layernorm.weight 0.25 1 64' \
                'token_layernorm.weight 0.25 1 64' 'final_layernorm.weight 0.25 1 64' >> "$WORK/more"
            sed -i 's/Qwen2ForCausalLM/MiMoForCausalLM/; s/"vocab_size": 96/"vocab_size": 2064/' "$WORK/$1.of/config.json"
            sed -i -E 's/((lm_head|embed_tokens).weight .*) 96 64$/\1 2064 64/' "$WORK/$1.of/tensors"
            ;;
        *)
            sed -n 's/^model\.layers\.1\./model.layers.2./p' "$WORK/$1.of/tensors" > "$WORK/more"
            printf 'model.layers.2.%s\n' 'eh_proj.weight 0.14 0 64 128' 'enorm.weight 0.25 1 64' 'hnorm.weight 0.25 1 64' \
                'shared_head.norm.weight 0.25 1 64' >> "$WORK/more"
            ;;
    esac
    sort "$WORK/$1.of/tensors" "$WORK/more" > "$WORK/all"
    sed -E 's/^lm_head.weight [0-9.]*/lm_head.weight 2/; s/(o_proj|out_proj|down_proj).weight [0-9.]*/\1.weight 0.03/' "$WORK/all" > "$WORK/$1.of/tensors"
    "$BUILD/tools/family_weights" "$WORK/$1.of" "$WORK/$1"
    [ "$1" != qwen2-yarn ] || cp examples/austen/tokenizer*.json "$WORK/$1"
}

# alike NAME OPTIONS...: without guesses, and by both ways to guess
alike() {
    _model=$1
    shift
    "$WORK/$_model.both" --ignore-eos --logits-hash "$@" --draft none > "$WORK/alone" 2> "$WORK/err" || cat "$WORK/err"
    for _how in lookup model; do
        "$WORK/$_model.both" --ignore-eos --logits-hash "$@" --draft $_how -v > "$WORK/drafted" 2> "$WORK/err"
        same "draft_head: $_model, $*, --draft $_how" "$WORK/alone" "$WORK/drafted"
        sed -n 's/.*: drafts: //p' "$WORK/err" >> "$WORK/$_model.drafts"
    done
}

pattern=5,9,12,33,70,5,9,12,33,5,9
for name in deepseek_v3 glm4_moe qwen3_next qwen2-yarn; do
    with_head $name
    check "draft_head: $name builds with its head" "$BURIN" build "$WORK/$name" --draft=mtp --mcpu=native -o "$WORK/$name.both"
    alike $name --tokens $pattern -n 50 --temp 0
    alike $name --tokens $pattern -n 40 --seed 3 --chunk 5 -t 2 --draft-max 16
    alike $name --tokens 5 -n 30 --seed 4 --temp 2 --chunk 2
    alike $name --tokens $pattern -n 90 --temp 0 --ctx 40 --shift
    for n in 1 6 17; do
        [ $name != qwen2-yarn ] || break # whose tokenizer prints text
        rm -f "$WORK/s"
        "$WORK/$name.both" --tokens $pattern -n 30 --temp 0 --ignore-eos --draft none > "$WORK/alone" 2> /dev/null
        { "$WORK/$name.both" --tokens $pattern -n $n --temp 0 --ignore-eos --session "$WORK/s" | tr '\n' , &&
            "$WORK/$name.both" -n $((30 - n)) --temp 0 --ignore-eos --session "$WORK/s" < /dev/null; } > "$WORK/drafted" 2> "$WORK/err"
        same "draft_head: $name, a session after $n of 30" "$WORK/alone" "$WORK/drafted"
    done
    right=$(awk '{ right += $1; all += $3 } END { print right + 0, all + 0 }' "$WORK/$name.drafts")
    check "draft_head: $name, right of all guesses: $right" test "${right% *}" -gt 0 -a "${right#* }" -gt "${right% *}"
done
check "draft_head: without the head" "$BURIN" build "$WORK/qwen3_next" --mcpu=native -o "$WORK/plain"
"$WORK/plain" --tokens $pattern -n 50 --temp 0 --ignore-eos --logits-hash > "$WORK/alone" 2> "$WORK/err"
"$WORK/qwen3_next.both" --tokens $pattern -n 50 --temp 0 --ignore-eos --logits-hash > "$WORK/drafted" 2> "$WORK/err"
same "draft_head: the head changes no logits" "$WORK/alone" "$WORK/drafted"

says "draft_head: no such head" 1 "model.safetensors has no head that predicts further tokens" \
    "$BURIN" build examples/austen --draft=mtp -o "$WORK/x"
tar -xJf tests/e2e/recurrent.tar.xz -C "$WORK" ./gru.onnx 2> /dev/null || tar -xJf tests/e2e/recurrent.tar.xz -C "$WORK" gru.onnx
says "draft_head: an export" 2 "--draft=mtp is for checkpoints, and $WORK/gru.onnx is none" \
    "$BURIN" build "$WORK/gru.onnx" --max seq=128 --draft=mtp -o "$WORK/x"

. tests/lib_server.sh
[ -e /usr/include/event2/http.h ] || { skip "draft_head: with libevent" "it is not here" && exit 0; }
check "draft_head: a server" "$BURIN" build "$WORK/qwen2-yarn" --draft=mtp --with=server --mcpu=native -o "$WORK/talk"
for i in 1 2 3 4 5 6; do
    printf 'POST /v1/completions {"prompt": "It was %s and it was", "seed": %s, "max_tokens": 40, "temperature": %s, "ignore_eos": true}\n' \
        "$i" "$i" "$((i % 2))"
done > "$WORK/requests"
serving "$WORK/talk" -t 1 --parallel 1 --draft none --log-format none || cat "$WORK/served"
asked 1 "$WORK/requests" "$WORK/alone"
stopped
serving "$WORK/talk" -t 2 --parallel 4 --metrics --log-format none || cat "$WORK/served"
asked 6 "$WORK/requests" "$WORK/replies"
same "draft_head: answers of a server, several at once" "$WORK/alone" "$WORK/replies"
before=$(awk '/^VmSize/ { print $2 }' "/proc/$server/status")
asked 1 "$WORK/requests" "$WORK/replies"
after=$(awk '/^VmSize/ { print $2 }' "/proc/$server/status")
check "draft_head: ended answers leave no memory: $before kB, then $after" test "$after" -le $((before + 512))
stopped

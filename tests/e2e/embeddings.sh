#!/bin/sh
# Sentence encoders: the embeddings of MiniLM where fetch-models has brought it, and of a small folder made here.
. tests/lib.sh
minilm=${BURIN_MODELS:-$HOME/.cache/burin-models}/minilm
bert=$SHARED/data/families/bert
need "sentence encoders" "$bert"

# ---- a folder of sentence-transformers around a small BERT
folder=$WORK/small
mkdir -p "$folder/1_Pooling"
cp "$bert/config.json" "$bert/model.safetensors" "$folder"
vocabulary='"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"hello":4,"world":5' id=6
for letter in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
    vocabulary="$vocabulary,\"$letter\":$id,\"##$letter\":$((id + 1))" id=$((id + 2))
done
cat > "$folder/tokenizer.json" << EOF
{"version": "1.0", "added_tokens": [{"id": 2, "content": "[CLS]", "special": true}, {"id": 3, "content": "[SEP]", "special": true}],
 "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
 "pre_tokenizer": {"type": "BertPreTokenizer"},
 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
   {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}], "pair": [],
   "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
   "vocab": {$vocabulary}}}
EOF
module() { echo "{\"idx\": $1, \"name\": \"$1\", \"path\": \"$2\", \"type\": \"sentence_transformers.models.$3\"}"; }
pooling() { echo "{\"word_embedding_dimension\": 64, \"pooling_mode_$1\": true}" > "$folder/1_Pooling/config.json"; }
echo "[$(module 0 "" Transformer), $(module 1 1_Pooling Pooling), $(module 2 2_Normalize Normalize)]" > "$folder/modules.json"
echo '{"max_seq_length": 8}' > "$folder/sentence_bert_config.json"
pooling mean_tokens

embed() { "$BURIN" run "$folder" --interpret "$@"; }
check "builds a program of texts" "$BURIN" build "$folder" -o "$WORK/mean"
"$WORK/mean" "Hello, wörld" "a" > "$WORK/two"
check "a line for each text" test "$(wc -l < "$WORK/two")" = 2
check "as many numbers as it is wide" test "$(head -n 1 "$WORK/two" | wc -w)" = 64
check "of length 1" awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i * $i; if (s < 0.999999 || s > 1.000001) exit 1 }' "$WORK/two"
printf 'Hello, wörld\r\na' | "$WORK/mean" > "$WORK/lines"
same "lines of standard input are texts" "$WORK/two" "$WORK/lines"
answers_at_once "an answer comes before the next text" "hello world" "$("$WORK/mean" "hello world")" "$WORK/mean"
if grep -q syscw /proc/self/io 2> /dev/null; then
    yes "hello world" | head -n 1000 > "$WORK/many"
    writes=$(sh -c "'$WORK/mean' < '$WORK/many' | cat > '$WORK/answers'; sed -n 's/syscw: //p' /proc/\$\$/io")
    check "a thousand answers in $writes calls of write" test "$writes" -le 2100
    check "and all of them" test "$(wc -l < "$WORK/answers")$(sort -u "$WORK/answers")" = "1000$("$WORK/mean" "hello world")"
else
    skip "a thousand answers in few calls of write" "the kernel does not count them"
fi
embed "Hello, wörld" "a" > "$WORK/interpreted"
same "the interpreter prints the same" "$WORK/interpreted" "$WORK/two"
"$WORK/mean" --format json 'say "hello"	\' > "$WORK/json"
check "JSON has the text, its ids and its embedding" grep -q '^{"text": "say \\"hello\\"\\u0009\\\\", "ids": \[2, .*, 3\], "embedding": \[.*\]}$' "$WORK/json"
check "a long text is cut, and ends as it should" sh -c "'$WORK/mean' --format json 'a b c d e f g h i j k l' | grep -q '\"ids\": \[2, 6, 8, 10, 12, 14, 16, 3\]'"
says "a text of JSON is as it was given" 0 '{"text": "wörld \"a\"", "ids"' "$WORK/mean" --format json 'wörld "a"'
says "what is cut is said" 0 "a text of 14 tokens is cut: the model takes 8" "$WORK/mean" 'a b c d e f g h i j k l' a
says "and how many were" 0 "2 texts were cut" "$WORK/mean" 'a b c d e f g h i j k l' a 'a b c d e f g h i j k l'
check "an empty text has an embedding" sh -c "'$WORK/mean' --format json '' | grep -q '\"ids\": \[2, 3\]'"
check "a text is as near as can be to itself" test "$("$WORK/mean" --similarity "hello world" "HELLO world")" = 1.000000
check "and nearer to itself than to others" test "$("$WORK/mean" --similarity hello zzz)" != 1.000000
check "the ids of a text give its embedding" test "$("$WORK/mean" --tokens 2,4,5,3)" = "$("$WORK/mean" "hello world")"
"$WORK/mean" --format npy -- a "hello world" > "$WORK/e.npy"
check "npy is one array" grep -qa "'shape': (2, 64)" "$WORK/e.npy"
"$WORK/mean" a "hello world" --output "$WORK/out"
same "--output writes it to a folder" "$WORK/e.npy" "$WORK/out/sentence_embedding.npy"
mkfifo "$WORK/typed"
"$WORK/mean" --format npy -f "$WORK/typed" > "$WORK/part.npy" 2> /dev/null &
embedder=$!
exec 5> "$WORK/typed"
yes "hello world" | head -n 70 >&5
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -qa "'shape': (64, 64)" "$WORK/part.npy" && break; sleep 0.2; done
kill -9 $embedder && exec 5>&-
check "npy: a run that is stopped leaves the rows so far" grep -qa "'shape': (64, 64)" "$WORK/part.npy"
check "npy: their bits" test "$(tail -c +129 "$WORK/part.npy" | head -c 256 | cksum)" = "$(tail -c 256 "$WORK/e.npy" | cksum)"
hash=$("$WORK/mean" --hash "hello world" -t 1)
check "one hash for any number of threads" test "$hash" = "$("$WORK/mean" --hash "hello world" -t 3)" -a -n "$hash"

# ---- several texts in a step: each has the bits that it has alone
awk 'BEGIN { for (i = 0; i < 64; i++) { line = "hello"; for (j = 0; j < i * 7 % 6; j++) line = line " " sprintf("%c", 97 + (i + j) % 26); print line } }' > "$WORK/64"
while IFS= read -r text; do "$WORK/mean" -t 1 "$text"; done < "$WORK/64" > "$WORK/alone"
for batch in 1 2 7 64; do
    for threads in 1 2 3; do
        "$WORK/mean" -f "$WORK/64" --batch-size $batch -t $threads > "$WORK/together"
        same "$batch texts in a step, $threads threads" "$WORK/alone" "$WORK/together"
    done
done
says "as many as fit" 0 "64 texts in 8 steps" "$WORK/mean" -f "$WORK/64" --batch-size 64 -v
says "or as many as asked for" 0 "64 texts in 32 steps" "$WORK/mean" -f "$WORK/64" -b 2 -v

printf 'zzz\nhello world\nHello World\na\n' > "$WORK/texts"
"$WORK/mean" --rank "hello world" -f "$WORK/texts" --top-k 2 > "$WORK/ranked"
printf '1.000000\thello world\n1.000000\tHello World\n' > "$WORK/expected"
same "the nearest texts come first, of equals the earlier" "$WORK/expected" "$WORK/ranked"
"$WORK/mean" --rank "hello world" --format json < "$WORK/texts" > "$WORK/ranked"
check "and all of them as JSON, with their lines" test "$(sed -n 's/.*"line": \([0-9]*\), "text.*/\1/p' "$WORK/ranked" | sort | tr '\n' ' ')" = "1 2 3 4 "
sed 's/.*"score": \([-0-9.]*\),.*/\1/' "$WORK/ranked" > "$WORK/scores"
check "in the order of their scores" sort -c -g -r "$WORK/scores"
printf '%s\n' "$("$WORK/mean" --similarity "hello world" zzz)" > "$WORK/expected"
sed -n 's/.*"score": \([-0-9.]*\), "line": 1,.*/\1/p' "$WORK/ranked" > "$WORK/got"
same "a score is the cosine" "$WORK/expected" "$WORK/got"
"$WORK/mean" -f "$WORK/texts" --format npy > "$WORK/saved.npy"
for format in text json; do
    "$WORK/mean" --rank "hello world" -f "$WORK/texts" --format $format > "$WORK/expected"
    "$WORK/mean" --rank "hello world" -f "$WORK/texts" --format $format --embeddings "$WORK/saved.npy" > "$WORK/got"
    same "--rank over saved embeddings, $format" "$WORK/expected" "$WORK/got"
done
check "without a file: the numbers of lines" test "$("$WORK/mean" --rank "hello world" --embeddings "$WORK/saved.npy" --top-k 2 | cut -f2 | tr '\n' ' ')" = "line 2 line 3 "
head -n 2 "$WORK/texts" > "$WORK/two"
says "saved embeddings of more lines" 1 "more rows than the file has lines" "$WORK/mean" --rank a --embeddings "$WORK/saved.npy" -f "$WORK/two"
cat "$WORK/texts" "$WORK/two" > "$WORK/six"
says "saved embeddings of fewer lines" 1 "fewer rows than the file has lines" "$WORK/mean" --rank a --embeddings "$WORK/saved.npy" -f "$WORK/six"
says "saved embeddings that are none" 1 "--embeddings $WORK/two: is no .npy file" "$WORK/mean" --rank a --embeddings "$WORK/two"
printf '\000\000\200\077' | npy '<f4' '1, 1' > "$WORK/narrow.npy"
says "saved embeddings of another width" 1 "expected f32 [lines, " "$WORK/mean" --rank a --embeddings "$WORK/narrow.npy"
says "saved embeddings without --rank" 2 "--embeddings is for --rank" "$WORK/mean" --embeddings "$WORK/saved.npy" a
says "--rank needs texts" 2 "--rank prints texts" "$WORK/mean" --rank a --hash b
says "--top-k is for --rank" 0 "--top-k has no effect: it is for --rank" "$WORK/mean" --top-k 2 a
says "--similarity takes two" 2 "--similarity" "$WORK/mean" --similarity one
says "--format has three kinds" 2 "--format" "$WORK/mean" --format xml a

# ---- a text inside of a host
cat > "$WORK/host.c" << 'EOF'
#include <stdio.h>
#include <string.h>
#include "small.h"
int main(int argc, char **argv) {
    _Alignas(16) static char memory[1 << 16];
    const char *text = argc > 1 ? argv[1] : "hello world";
    int32_t ids[16] = {0};
    int64_t capacity = argc > 2 ? 7 : 16, n = small_encode(text, strlen(text), ids, (size_t)capacity, memory);
    for (int64_t i = 0; i < n; i++) printf("%d ", ids[i]);
    if (argc > 2) printf("of part %d ", (int)small_encode_part(text, strlen(text), ids, 16, memory));
    return small_encode_memory(strlen(text)) > sizeof memory;
}
EOF
check "builds a library" "$BURIN" build "$folder" --mcpu=native -o "$WORK/small.a"
check "a host links it" ${CC:-gcc} -Wall -Wextra -Werror -I"$WORK" "$WORK/host.c" "$WORK/small.a" -lm -lpthread -o "$WORK/host"
check "and has the ids of a text" test "$("$WORK/host")" = "2 4 5 3 "
long='a b c d e f g h i j k l'
check "a long text is cut as the program cuts it" test "$("$WORK/host" "$long")" = "2 6 8 10 12 14 16 3 "
check "with less room as well, but not a part" test "$("$WORK/host" "$long" less)" = "2 6 8 10 12 14 16 0 of part 12 "

# ---- the ways of pooling, against the states themselves: [CLS] hello world [SEP]
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }" > "$WORK/ids.npy"
printf '\002\000\000\000\004\000\000\000\005\000\000\000\003\000\000\000' >> "$WORK/ids.npy"
embed --input "input_ids=$WORK/ids.npy" --output "$WORK/states"
states=$WORK/states/last_hidden_state.npy
for kind in cls_token max_tokens mean_sqrt_len_tokens mean_tokens lasttoken weightedmean_tokens; do
    pooling $kind
    embed "hello world" > "$WORK/pooled"
    check "pooling: $kind" "$BUILD/tools/pooled" "$states" $kind "$WORK/pooled"
done

# ---- a Dense that keeps the first two numbers
echo "[$(module 0 "" Transformer), $(module 1 1_Pooling Pooling)]" > "$folder/modules.json"
embed "hello world" | cut -d' ' -f1,2 > "$WORK/first"
mkdir "$folder/2_Dense"
{
    printf '\120\0\0\0\0\0\0\0%-80s' '{"linear.weight":{"dtype":"F32","shape":[2,64],"data_offsets":[0,512]}}'
    printf '\000\000\200\077' && head -c 256 /dev/zero && printf '\000\000\200\077' && head -c 248 /dev/zero
} > "$folder/2_Dense/model.safetensors"
echo '{"activation_function": "torch.nn.modules.linear.Identity"}' > "$folder/2_Dense/config.json"
echo "[$(module 0 "" Transformer), $(module 1 1_Pooling Pooling), $(module 2 2_Dense Dense)]" > "$folder/modules.json"
embed "hello world" > "$WORK/dense"
same "a Dense behind the pooling" "$WORK/first" "$WORK/dense"
mv "$folder/modules.json" "$WORK"
check "--pooling does without modules.json" test "$(embed --pooling cls a)" != "$(embed --pooling mean a)"

# NAME TEXT: the build prints it
fails() { says "$1" 1 "$2" "$BURIN" build "$folder" -o "$WORK/none"; }
echo "[$(module 0 "" Transformer), $(module 1 2_Word Word)]" > "$folder/modules.json"
fails "a module that is not known" 'a module of type "sentence_transformers.models.Word" is not supported'
echo "[$(module 0 "" Transformer), $(module 1 1_Pooling Pooling)]" > "$folder/modules.json"
pooling middle_token
fails "a pooling that is not known" '"pooling_mode_middle_token" is not supported'
pooling max_tokens
embed "hello world" > "$WORK/max"
pooling cls_token
embed "hello world" | paste -d ' ' - "$WORK/max" > "$WORK/both"
echo '{"pooling_mode_max_tokens": true, "pooling_mode_cls_token": true}' > "$folder/1_Pooling/config.json"
embed "hello world" > "$WORK/got"
same "two poolings at once follow each other" "$WORK/both" "$WORK/got"
pooling cls_token
echo '{"prompts": {"query": "hello ", "document": "a ", "other": ""}, "default_prompt_name": "query"}' > "$folder/config_sentence_transformers.json"
"$BURIN" build "$folder" --mcpu=native -o "$WORK/prompted"
plain() { "$WORK/prompted" --prompt "" "$@"; }
check "the default prompt stands in front of every text" test "$("$WORK/prompted" world)" = "$(plain "hello world")"
check "another by its name" test "$("$WORK/prompted" --prompt-name document world)" = "$(plain "a world")"
check "one that is empty" test "$("$WORK/prompted" --prompt-name other world)" = "$(plain world)"
check "or any text" test "$("$WORK/prompted" --prompt "b " world)" = "$(plain "b world")"
printf 'world\nzzz\n' > "$WORK/texts"
plain --similarity "hello zzz" "a world" > "$WORK/expected"
"$WORK/prompted" --rank zzz -f "$WORK/texts" | sed -n 's/\tworld//p' > "$WORK/got"
same "--rank: a query and documents have theirs" "$WORK/expected" "$WORK/got"
says "a prompt that the model lacks" 1 "--prompt-name x: this model has the prompts query, document, other" "$WORK/prompted" --prompt-name x world
says "two prompts" 2 "two prompts" "$WORK/prompted" --prompt-name query --prompt x world
echo '{"prompts": {"query": "hello "}}' > "$folder/config_sentence_transformers.json"
echo '{"pooling_mode_cls_token": true, "include_prompt": false}' > "$folder/1_Pooling/config.json"
fails "prompts that are not pooled" 'pooling without the prompt ("include_prompt": false) is not supported'
pooling cls_token
rm "$folder/config_sentence_transformers.json"
sed -i 's/"lowercase": true/"lowercase": false/' "$folder/tokenizer.json"
echo '{"do_lower_case": true}' > "$folder/sentence_bert_config.json"
fails "small letters that the tokenizer does not write" '"do_lower_case" is not supported'
rm "$folder/1_Pooling/config.json" "$folder/sentence_bert_config.json"
fails "a pooling without its file" "expected a JSON object of pooling modes"

# ---- MiniLM
need "all-MiniLM-L6-v2" "$minilm" "$SHARED/data/expected/minilm.json"
check "MiniLM builds" "$BURIN" build "$minilm" --mcpu=native -o "$WORK/minilm"
check "MiniLM: ids and embeddings as recorded" "$BUILD/tools/embeddings" "$WORK/minilm" "$SHARED/data/expected/minilm.json"

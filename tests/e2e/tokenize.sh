#!/bin/sh
# burin tokenize, and --tokenize of a program: ids, pieces and their positions, back to text, lines,
# JSON, errors.
. tests/lib.sh
need "tokenize: austen" examples/austen/tokenizer.json
# prints NAME EXPECTED COMMAND...
prints() {
    _name=$1 _expected=$2
    shift 2
    _got=$("$@" 2>&1 < /dev/null)
    if [ "$_got" = "$_expected" ]; then ok "tokenize: $_name"; else
        not_ok "tokenize: $_name"
        echo "$_got" | sed 's/^/# /'
    fi
}
austen=examples/austen
prints "ids" 0,1114,306 "$BURIN" tokenize $austen "It was"
prints "the file itself" 0,1114,306 "$BURIN" tokenize $austen/tokenizer.json "It was"
prints "beside the weights" 0,1114,306 "$BURIN" tokenize $austen/model.safetensors "It was"
prints "nothing" 0 "$BURIN" tokenize $austen ""
prints "special tokens" 0,0,1114,1 "$BURIN" tokenize $austen "<s>It</s>"
prints "pieces" "0,1114,306
0	0	0	\"<s>\"
1114	0	2	\"It\"
306	2	6	\" was\"" "$BURIN" tokenize $austen "It was" --pieces
prints "pieces of a character" "0,129,104
0	0	0	\"<s>\"
129	0	1	\"$(printf '\357\277\275')\"
104	1	2	\"$(printf '\357\277\275')\"" "$BURIN" tokenize $austen "é" --pieces
prints "back to text" "It was" "$BURIN" tokenize $austen --decode 1114,306
prints "back to a character" "é" "$BURIN" tokenize $austen --decode 129,104
says "tokenize: an id beyond" 1 "token 99999 is outside the vocabulary" "$BURIN" tokenize $austen --decode 99999
says "tokenize: no ids" 2 "expected ids with commas between them" "$BURIN" tokenize $austen --decode x
says "tokenize: no such form" 2 "--format=xml: expected text or json" "$BURIN" tokenize $austen --format=xml x
says "tokenize: no such file" 1 "there is no /nowhere" "$BURIN" tokenize /nowhere x
says "tokenize: no tokenizer" 1 "there is no tokenizer in $WORK" "$BURIN" tokenize "$WORK" x
says "tokenize: a folder of one GGUF" 1 'gpt2/model.gguf: error: metadata "tokenizer.ggml.model" is missing' \
    "$BURIN" tokenize tests/formats/gpt2 x
says "tokenize: two texts" 2 "one MODEL at a time" "$BURIN" tokenize $austen a b
check "tokenize: lines" test "$(printf 'It was\n\nIt' | "$BURIN" tokenize $austen)" = "0,1114,306
0
0,1114"
answers_at_once "tokenize: a line at once" "It was" 0,1114,306 "$BURIN" tokenize $austen
check "tokenize: JSON" test "$(printf 'a "b"' | "$BURIN" tokenize $austen --format json --pieces)" = \
    '{"ids": [0,66,401,67,3], "pieces": ["<s>", "a", " \"", "b", "\""], "offsets": [[0, 0], [0, 1], [1, 3], [3, 4], [4, 5]]}'
head -c 20000 examples/austen/held_out.txt > "$WORK/text"
check "tokenize: there and back" test "$("$BURIN" tokenize $austen --decode "$("$BURIN" tokenize $austen "$(cat "$WORK/text")")")" = "$(cat "$WORK/text")"
bert=$SHARED/data/tokenizers/bert gpt2=$SHARED/data/tokenizers/gpt2
if [ -d "$bert" ]; then
    prints "a text that is changed" '101,7592,1010,2088,999,7861,8270,4667,102
101	0	0	"[CLS]"
7592	0	5	"hello"
1010	5	6	","
2088	7	13	"world"
999	13	14	"!"
7861	15	17	"em"
8270	17	20	"##bed"
4667	20	24	"##ding"
102	24	24	"[SEP]"' "$BURIN" tokenize "$bert" "Hello, wörld! Embedding" --pieces
    prints "GPT-2's pair of files" "15496,995" "$BURIN" tokenize "$gpt2" "Hello world"
else
    skip "tokenize: BERT, GPT-2" "the shared data is missing"
fi
unsanitized "tokenize: programs"
check "tokenize: builds" "$BURIN" build $austen -o "$WORK/austen"
prints "a program, as it reads prompts" "0,1114,306" "$WORK/austen" --tokenize "It was"
check "tokenize: a program's lines" test "$(printf 'It was\nIt' | "$WORK/austen" --tokenize)" = "0,1114,306
0,1114"
prints "a program's text" "It was" "$WORK/austen" --decode 1114,306
says "tokenize: --pieces alone" 2 "--pieces without --tokenize" "$WORK/austen" --pieces

#!/bin/sh
# The program around a model, with a fake one (fake_model.h): options, ids, logits, threads and chunks, exit status, messages.
. tests/lib.sh
CC=${CC:-gcc}
flags="-std=gnu11 -O1 -g -ffp-contract=off -Wall -Wextra -Werror -D_GNU_SOURCE -Iruntime -pthread"
[ "${BUILD##*/}" = san ] && flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all"
runtime=$(ls runtime/*/*.c | grep -v '/library/\|/mpi/\|/editor/\|/server/\|/api/\|/codecs/\|/windows/\|/glibc/')
fake=$WORK/fake

# shellcheck disable=SC2086 # lists of words
whole_runtime() { $CC $flags -r -nostdlib $runtime -o "$WORK/runtime.o"; }
# shellcheck disable=SC2086
build() { $CC $flags "${3:--g}" "$1" "$WORK/runtime.o" -lm -o "$2"; }
check "the runtime builds" whole_runtime
check "builds around a fake model" build tests/e2e/fake_model.c "$fake"
[ -x "$fake" ] || exit 1

# prints NAME TEXT ARGUMENTS...: exactly this on stdout, nothing on stderr, status 0
prints() {
    _name=$1 _text=$2
    shift 2
    _got=$("$fake" "$@" 2> "$WORK/err" < /dev/null) && [ "$_got" = "$_text" ] && [ ! -s "$WORK/err" ] && ok "$_name" && return
    not_ok "$_name"
    echo "# got $_got $(cat "$WORK/err"), expected $_text"
}

next=$("$fake" --tokens 1,2,3 -n 20 --temp 0)
prints "ids in, ids out" "$next" --tokens 1,2,3 -n 20 --temp 0
prints "continues from its own ids" "$(echo "$next" | cut -d, -f6-)" --tokens "1,2,3,$(echo "$next" | cut -d, -f1-5)" -n 15 --temp 0
prints "without a prompt: the beginning of a text" "$("$fake" --tokens 1 -n 5 --temp 0)" -n 5 --temp 0
prints "-n 0 only reads" "" --tokens 1,2,3 -n 0
prints "stops at the end of the text" "$("$fake" --tokens 5,5 -n 60 --temp 0)" --tokens 5,5 -n 60 --temp 0

# Tokens that are not the first: the first another, a later one as it was.
for at in 1 2; do
    token=$(echo "$next" | cut -d, -f$at)
    check "builds a model that does not begin with $token" build tests/e2e/fake_model.c "$WORK/begins$at" \
        "-DFAKE_MORE=,.begin_suppress=(const int32_t[]){$token},.n_begin_suppress=1"
done
check "it begins with another" test "$("$WORK/begins1" --tokens 1,2,3 -n 1 --temp 0)" != "$(echo "$next" | cut -d, -f1)"
check "a later token may be what the first may not" test "$("$WORK/begins2" --tokens 1,2,3 -n 20 --temp 0)" = "$next"

# One hash and one text for every number of threads, rows at once and CPU; sampled, so the sampler counts too.
cells=0
for threads in 1 2 3 7; do for chunk in 1 3 7 16 99; do for cpu in plain plain+more; do
    "$fake" --tokens 9,8,7,6,5,4,3,1,1,1,9,9,9,9,9,9,9,9,9,9 -n 10 --seed 3 --logits-hash -t $threads --chunk $chunk --cpu $cpu
    cells=$((cells + 1))
done; done; done > "$WORK/cells"
check "one text and one hash in 40 cells" test "$(wc -l < "$WORK/cells")" = 80 -a "$(sort -u "$WORK/cells" | wc -l)" = 2
check "a hash is 16 digits" sh -c "sed -n 2p '$WORK/cells' | grep -qE '^[0-9a-f]{16}$'"
check "another prompt, another hash" test "$("$fake" --tokens 1,2 -n 0 --logits-hash)" != "$("$fake" --tokens 2,2 -n 0 --logits-hash)"
check "another seed, another text" test "$("$fake" --seed 1)" != "$("$fake" --seed 2)"

"$fake" --tokens 1,2,3 -n 4 --temp 0 --logits "$WORK/l.npy" > "$WORK/ids"
check "--logits has every row of the run" test "$(wc -c < "$WORK/l.npy")" = $((128 + 6 * 300 * 4))
check "--logits has its shape" grep -qa "'shape': (6, 300)" "$WORK/l.npy"

"$fake" --tokens 1,2,3 -n 100 --temp 0 --ignore-eos > "$WORK/both" 2>&1
check "context full: said behind the text, on a line of its own" [ "$(grep -n 'is full' "$WORK/both" | cut -c 1-2)" = 2: ]
says "context full" 0 "the context of 64 tokens is full" "$fake" --tokens 1,2,3 -n 100 --temp 0 --ignore-eos
check "--shift goes on" test "$("$fake" --tokens 1,2,3 -n 200 --temp 0 --shift --ignore-eos | tr , '\n' | wc -l)" = 200
# --shift at a context of 64: the beginning of the text and the newest 31 tokens are read again.
whole=$("$fake" --tokens 1,2,3 -n 70 --temp 0 --shift --ignore-eos)
again=1,$(echo "$whole" | cut -d, -f32-62)
prints "--shift reads the newer half again" "$(echo "$whole" | cut -d, -f63-)" --tokens "$again" -n 8 --temp 0 --ignore-eos
check "a huge -n ends at the context" test "$("$fake" --tokens 1,2,3 -n 999999999999 --ignore-eos 2> /dev/null | tr , '\n' | wc -l)" = 62
long=$(seq -s , 1 65)
says "a prompt longer than the context" 1 "the prompt has 65 tokens, the context holds 64" "$fake" --tokens "$long"
says "a prompt longer than --ctx" 1 "the prompt has 3 tokens, the context holds 2" "$fake" --tokens 1,2,3 --ctx 2
says "--ctx beyond what was built" 1 "built for a context of 64" "$fake" --ctx 65
says "an option of sampling without sampling" 0 "--top-k has no effect: the likeliest token" "$fake" --tokens 1 -n 1 --temp 0 --top-k 5
says "an option of texts with --bench" 0 "-n has no effect: --bench writes no text" "$fake" --bench -n 5 --positions 0
says "a prompt with --bench" 0 "the prompt has no effect: --bench" "$fake" --bench --tokens 1,2 --positions 0
says "more rows than were built" 0 "--chunk 99: this program was built for 16 rows" "$fake" --tokens 1 -n 1 --chunk 99
says "ids outside the vocabulary" 1 "token 300 is outside the vocabulary, 0 to 299" "$fake" --tokens 1,300
says "negative ids" 1 "outside the vocabulary" "$fake" --tokens 1,-3
says "ids that are none" 2 "expected ids with commas" "$fake" --tokens 1,x
says "empty ids" 2 "expected ids with commas" "$fake" --tokens ""
says "text without a tokenizer" 1 "this model has no tokenizer" "$fake" "Once upon a time"
says "a prompt file that is not there" 1 "cannot read /nonexistent: No such file" "$fake" -f /nonexistent
says "a folder as prompt file" 1 "cannot read /tmp: Is a directory" "$fake" -f /tmp
says "logits that cannot be written" 1 "--logits /nonexistent/x.npy" "$fake" --tokens 1 --logits /nonexistent/x.npy
says "temperature that is no number" 2 "--temp nan" "$fake" --temp nan
says "negative temperature" 2 "expected a number from 0" "$fake" --temp -1
says "top-p above 1" 2 "--top-p 1.5" "$fake" --top-p 1.5
says "no threads" 2 "--threads 0" "$fake" --threads=0
says "a word for a number" 2 "not a number" "$fake" -n many
says "half a token" 2 "not a whole number" "$fake" -n 1.5
says "a bad seed" 2 "--seed -1" "$fake" --seed -1
says "an unknown option" 2 "did you mean --temp?" "$fake" --tmp 1
says "an option far from any" 2 "--help lists the options" "$fake" --frobnicate
says "an option without its value" 2 "--cpu needs a value" "$fake" --cpu
says "a flag with a value" 2 "--bench takes no value" "$fake" --bench=3
says "two prompts" 2 "more than one prompt" "$fake" Once upon
says "two inputs" 2 "more than one input" "$fake" Once --tokens 1
says "--window alone" 2 "--window without --perplexity" "$fake" --window 3
says "logits of a benchmark" 2 "leave out --bench" "$fake" --bench --logits-hash
says "a CPU that it does not carry" 1 "carries code for plain, plain+more, future" "$fake" --cpu z80
says "a CPU that this machine is not" 1 "instructions that nobody has" "$fake" --cpu future
says "--completion" 0 "_burin_complete" "$fake" --completion bash
says "--completion of another shell" 2 "--completion csh: expected bash or fish" "$fake" --completion csh
"$fake" --completion bash > "$WORK/completion"
cat >> "$WORK/completion" << 'END3'
COMP_WORDS=(fake --logits-) COMP_CWORD=1
_burin_complete
echo "${COMPREPLY[*]}"
END3
check "--completion completes" test "$(bash "$WORK/completion" 2>&1)" = "--logits-hash"
says "--info" 0 "0123456789abcdef" "$fake" --info
says "--version" 0 "fake 0123456789abcdef" "$fake" --version
says "--help" 0 "usage: fake [options] [prompt]" "$fake" --help
says "--verbose" 0 "threads 2, seed 5" "$fake" -n 3 --seed 5 -t 2 -v
says "--profile" 0 "time of thread 0" "$fake" -n 3 --profile
says "--bench" 0 "tokens/s" "$fake" --bench
says "--bench at positions" 0 "decode at 3 " "$fake" --bench --positions 1,3
says "a position outside the context" 1 "is outside the context" "$fake" --bench --positions 100000000
says "a position that is no number" 2 "numbers with commas" "$fake" --bench --positions 1,x
says "a prompt without --bench" 2 "--bench --prefill N" "$fake" --prefill 3
says "positions without --bench" 2 "--bench --positions 3" "$fake" --positions 3

"$fake" --ignore-eos --shift -n 100000 2> "$WORK/err" | head -c 5 > "$WORK/out"
check "a reader that goes away: no message" test ! -s "$WORK/err"
sh -c "trap '' PIPE; '$fake' -n 100000 --ignore-eos --shift 2> '$WORK/err' | head -c 5 > '$WORK/out'"
check "the same with SIGPIPE ignored" test ! -s "$WORK/err"
if [ -w /dev/full ]; then
    "$fake" -n 3 > /dev/full 2> "$WORK/err"
    check "a full disk is said" test $? = 1
    check "a full disk is named" grep -q "cannot write to standard output: No space left" "$WORK/err"
fi

if [ "${BUILD##*/}" = san ]; then skip "no heap after the first step" "sanitizers have their own malloc"; else
    check "builds with a sealed heap" build tests/e2e/no_heap.c "$WORK/sealed"
    check "no heap after the first step" "$WORK/sealed" --tokens 1,2,3 -n 100 --shift --top-k 0 --repeat-penalty 1.1 -t 3 -v \
        --logits "$WORK/sealed.npy" --logits-hash --profile
    check "no heap in --bench" "$WORK/sealed" --bench
fi

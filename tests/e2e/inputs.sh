#!/bin/sh
# Inputs and outputs of a program: waiting for a pipe is visible, devices and endless input are
# refused, files of another shape are not read, and generated text commands no terminal.
. tests/lib.sh
unsanitized inputs
built() { check "inputs: builds ${1##*/}" $BURIN build "$2" --mcpu=x86-64-v3 -o "$1" ${3:+--tokenizer} $3; }
built "$WORK/story" examples/austen
built "$WORK/numbers" examples/numbers
built "$WORK/digits" examples/digits/digits.onnx
soon() { (ulimit -v 2000000 && exec timeout 20 "$@"); }

mkfifo "$WORK/fifo"
for what in /dev/zero /dev/urandom; do
    says "inputs: a prompt: $what" 1 "cannot read $what: it is a device, and no file" soon "$WORK/story" -f $what
    says "inputs: perplexity: $what" 1 "it is a device" soon "$WORK/story" --perplexity $what
    says "inputs: lines: $what" 1 "it is a device" soon "$WORK/numbers" -f $what
    says "inputs: values: $what" 1 "cannot be read: it is a device" soon "$WORK/digits" --input $what
    check "inputs: standard input: $what" sh -c "timeout 20 '$WORK/story' -f - < $what 2>&1 | grep -q 'standard input: it is a device'"
done
check "inputs: /dev/null is an empty prompt" soon "$WORK/story" -n 1 -f /dev/null
says "inputs: a folder of values" 1 "cannot be read: Is a directory" "$WORK/digits" --input "$WORK"

# What never ends.
endless() {
    name=$1 text=$2
    shift 2
    tr '\0' "$letter" < /dev/zero 2> /dev/null | soon "$@" > "$WORK/said" 2>&1
    status=$?
    check "inputs: $name: status $status" [ $status = 1 ]
    check "inputs: $name: $(tail -n 1 "$WORK/said")" grep -q "$text" "$WORK/said"
}
letter=x
endless "an endless prompt" "more than 256 MB" "$WORK/story" -f -
endless "an endless line" "a line of standard input has more than 16 MB" "$WORK/numbers"
truncate -s 3G "$WORK/sparse"
says "inputs: a large file" 1 "more than 256 MB" soon "$WORK/story" -f "$WORK/sparse"
{ npy '<f4' '40000,40000' < /dev/null && truncate -s 6400000128 /dev/stdout; } > "$WORK/large.npy"
says "inputs: values of another shape are not read" 1 "40000, 40000], and image is" soon "$WORK/digits" --input "$WORK/large.npy"

# A named pipe: without a writer, then with one.
for program in "story -n 4 --temp 0 -f" "numbers -f" "digits --input"; do
    : > "$WORK/said"
    # shellcheck disable=SC2086 # words
    timeout 20 "$WORK"/$program "$WORK/fifo" > "$WORK/got" 2> "$WORK/said" &
    reader=$! tries=0
    while [ ! -s "$WORK/said" ] && [ $tries -lt 100 ]; do sleep 0.1 && tries=$((tries + 1)); done
    check "inputs: ${program%% *} says that it waits" grep -q "fifo is a pipe: waiting for somebody to write into it" "$WORK/said"
    echo zwei > "$WORK/fifo"
    wait $reader
    status=$?
    case $program in
        digits*) check "inputs: and reads: digits (status $status)" grep -q "no .npy file" "$WORK/said" ;;
        *) check "inputs: and reads: ${program%% *} (status $status)" [ $status = 0 -a -s "$WORK/got" ] ;;
    esac
done

# Output files: no pipe without a reader, no target of a link, nothing half written.
says "inputs: logits into a pipe" 1 "fifo: it is no file" soon "$WORK/story" It -n 2 --logits "$WORK/fifo"
mkdir "$WORK/outputs" && echo mine > "$WORK/mine"
ln -s "$WORK/mine" "$WORK/outputs/logits.npy"
says "inputs: values into a link" 1 "logits.npy: it is a link" "$WORK/digits" --random --output "$WORK/outputs"
check "inputs: what it leads to is whole" [ "$(cat "$WORK/mine")" = mine ]
rm "$WORK/outputs/logits.npy" && mkfifo "$WORK/outputs/logits.npy"
says "inputs: values into a pipe" 1 "logits.npy: it is no file" soon "$WORK/digits" --random --output "$WORK/outputs"
rm "$WORK/outputs/logits.npy"
(ulimit -f 1 && "$WORK/digits" --random --dim batch=4000 --output "$WORK/outputs") > "$WORK/said" 2>&1
check "inputs: values that do not fit: $(cat "$WORK/said")" sh -c "grep -q 'logits.npy: File too large' '$WORK/said' && [ -z \"\$(ls '$WORK/outputs')\" ]"
(ulimit -f 1 && "$WORK/story" It -n 20 --temp 0 --logits "$WORK/outputs/story.npy") > /dev/null 2> "$WORK/said"
check "inputs: logits that do not fit: $(cat "$WORK/said")" sh -c "grep -q 'story.npy: File too large' '$WORK/said' && [ -z \"\$(ls '$WORK/outputs')\" ]"
ln -s "$WORK/mine" "$WORK/outputs/story.npy"
says "inputs: logits into a link" 1 "story.npy: it is a link" "$WORK/story" It -n 2 --logits "$WORK/outputs/story.npy"
check "inputs: what that leads to is whole" [ "$(cat "$WORK/mine")" = mine ]

# A seed where nothing is random, and where something is.
says "inputs: a seed of a network without chance" 0 "--seed has no effect: nothing in this network is random" "$WORK/digits" --random --seed 3
printf '%s\n' 'ir 10' 'opset 20' 'input x f32 [batch,4]' 'output y f32 [batch,4]' 'node RandomUniformLike x -> y' | "$BUILD/tools/onnx_of_text" "$WORK/chance.onnx"
built "$WORK/chance" "$WORK/chance.onnx"
for seed in 3 4; do "$WORK/chance" --random --seed $seed > "$WORK/seed$seed" 2>&1; done
check "inputs: a seed of random numbers" sh -c "! cmp '$WORK/seed3' '$WORK/seed4' > '$WORK/said' && ! grep 'no effect' '$WORK/seed3'"

# A terminal gets control characters spelled, a pipe and a file the bytes. Here "," and the byte 1b change places.
sed 's/",": 13,/"@": 13,/; s/"ě": \([0-9]*\)/",": \1/; s/"@": 13,/"ě": 13,/' examples/austen/tokenizer.json > "$WORK/tokenizer.json"
built "$WORK/escapes" examples/austen "$WORK/tokenizer.json"
"$WORK/escapes" "It was" -n 60 --temp 0 > "$WORK/got" 2> /dev/null
escape=$(printf '\033')
check "inputs: a pipe gets the bytes of the text" grep -q "$escape" "$WORK/got"
command -v script > /dev/null || { skip "inputs: terminals" "script is missing" && exit 0; }
on_terminal() { script -qec "$*" /dev/null < /dev/null | tr -d '\r'; }
prompt=$(printf 'It\302\233was')
on_terminal "'$WORK/escapes' '$prompt' -n 60 --temp 0 2> /dev/null" > "$WORK/shown"
check "inputs: a terminal gets it spelled" grep -qF '\x1b' "$WORK/shown"
check "inputs: the prompt, too" grep -qF 'It\xc2\x9bwas' "$WORK/shown"
sed "s/$escape\[[02]m//g" "$WORK/shown" > "$WORK/rest"
check "inputs: and none as it is" sh -c "! grep -q '[$escape]' '$WORK/rest'"
printf '{{ "\\x1b[31m" }}' > "$WORK/escapes.jinja"
echo '[{"role": "user", "content": "Hi"}]' > "$WORK/messages.json"
on_terminal "$BURIN template '$WORK/escapes.jinja' --messages '$WORK/messages.json'" > "$WORK/shown"
check "inputs: a terminal gets a template's text spelled" grep -qF '\x1b[31m' "$WORK/shown"
$BURIN template "$WORK/escapes.jinja" --messages "$WORK/messages.json" > "$WORK/piped"
check "inputs: a pipe gets a template's bytes" test "$(od -An -tx1 "$WORK/piped" | tr -d ' ')" = 1b5b33316d

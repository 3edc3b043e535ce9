#!/bin/sh
# --session: a text in several runs has the bits of one run; prompts and conversations that were read are kept; files that are no
# sessions, or not this program's, are refused and stay as they are.
. tests/lib.sh
need "session: austen as a program" examples/austen/model.safetensors
unsanitized "session: programs"
mkdir "$WORK/model"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do
    ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"
done
printf '%s' '{%- for m in messages %}{{- bos_token + m.content + eos_token }}{%- endfor %}{{ bos_token }}and' > "$WORK/model/chat_template.jinja"
check "session: builds" "$BURIN" build "$WORK/model" -o "$WORK/talk"
talk=$WORK/talk s=$WORK/s
[ -x "$talk" ] || exit 1

# in_parts NAME OPTION...: 60 tokens in one run and in three
in_parts() {
    _name=$1
    shift
    rm -f "$s"
    "$talk" --raw "It was" -n 60 --logits "$WORK/whole.npy" "$@" > "$WORK/whole" 2> /dev/null
    { "$talk" --raw "It was" -n 1 --session "$s" "$@" && "$talk" -n 20 --session "$s" "$@" -t 2 && : > "$WORK/empty" &&
        "$talk" --raw -f "$WORK/empty" -n 39 --session "$s" --logits "$WORK/last.npy" "$@"; } 2> "$WORK/err" | tr -d '\n' > "$WORK/parts"
    check "$_name: in three runs" test "$(cat "$WORK/parts")" = "$(tr -d '\n' < "$WORK/whole")"
    check "$_name: the last logits" test "$(values "$WORK/whole.npy" | tail -c 8192 | cksum)" = "$(values "$WORK/last.npy" | tail -c 8192 | cksum)"
}
in_parts "session: greedily" --temp 0
"$talk" --raw "It was" -n 60 --seed 7 --mirostat 2 > "$WORK/whole" 2> /dev/null
rm "$s"
{ "$talk" --raw "It was" -n 21 --seed 7 --mirostat 2 --session "$s" && "$talk" -n 39 --mirostat 2 --session "$s" < /dev/null; } 2> "$WORK/err" | tr -d '\n' > "$WORK/parts"
check "session: sampled, the draws go on" test "$(cat "$WORK/parts")" = "$(tr -d '\n' < "$WORK/whole")"
rm "$s"
{ "$talk" --tokens 0,1114,306 -n 5 --temp 0 --session "$s" && "$talk" -n 5 --temp 0 --session "$s" < /dev/null; } > "$WORK/parts" 2> "$WORK/err"
check "session: ids" test "$(cat "$WORK/parts")" = "315,274,287,1879,334
 it was not so,"

# A prompt with the beginning of the text read so far is read from its end on.
rm "$s"
long="It is a truth universally acknowledged, that a single man in possession of a good fortune"
"$talk" --raw "$long" -n 3 --temp 0 --session "$s" > /dev/null 2>&1
cp "$s" "$WORK/kept"
"$talk" --raw "$long, must be" -n 9 --temp 0 --session "$s" --prompt-cache-ro -v > "$WORK/got" 2> "$WORK/err"
check "session: a longer prompt" test "$(cat "$WORK/got")" = "$("$talk" --raw "$long, must be" -n 9 --temp 0)"
check "session: of which the beginning was read: $(head -n 1 "$WORK/err")" grep -q "the session has 2[0-9] of" "$WORK/err"
same "session: read only" "$WORK/kept" "$s"
check "session: another prompt" test "$("$talk" --raw "Once" -n 9 --temp 0 --session "$s" 2> /dev/null)" = "$("$talk" --raw "Once" -n 9 --temp 0)"
yes "was it" | head -n 100 | tr -d '\n' > "$WORK/full"
rm "$s"
"$talk" --raw -f "$WORK/full" -n 999 --ignore-eos --temp 0 --session "$s" > /dev/null 2>&1
says "session: a full one" 0 "the context of 512 tokens is full" "$talk" --session "$s" -n 5
says "session: a full one, shifted" 0 "wrote 5 at" "$talk" --session "$s" -n 5 --shift -v
says "session: more than --ctx holds" 1 "the session has" "$talk" --session "$s" -n 5 --ctx 100

# Conversations.
rm -f "$s"
printf 'It was\nShe had\n' | "$talk" --chat --temp 0 -n 8 > "$WORK/whole" 2> /dev/null
printf 'It was\n' | "$talk" --chat --temp 0 -n 8 --session "$s" > "$WORK/parts" 2> /dev/null
printf 'She had\n/save %s\n' "$WORK/turns" | "$talk" --chat --temp 0 -n 8 --session "$s" -v >> "$WORK/parts" 2> "$WORK/err"
same "session: a conversation in two runs" "$WORK/whole" "$WORK/parts"
check "session: what was read is kept: $(head -n 1 "$WORK/err")" sh -c "grep -q 'new tokens, kept [0-9]' '$WORK/err' && ! grep -q 'kept 0' '$WORK/err'"
check "session: its turns" test "$(grep -c '"role"' "$WORK/turns")" = 4
"$talk" --messages "$WORK/turns" --temp 0 -n 4 > "$WORK/whole" 2> /dev/null
"$talk" --messages "$WORK/turns" --temp 0 -n 4 --session "$s" > "$WORK/parts" 2> /dev/null
same "session: --messages" "$WORK/whole" "$WORK/parts"
# A message that spells special tokens differs from the turns with these tokens, though its bytes
# are equal.
rm "$s"
echo '[{"role": "user", "content": "It was"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "She"}]' > "$WORK/turns"
answer=$("$talk" --messages "$WORK/turns" --temp 0 -n 4 --session "$s" 2> /dev/null)
echo "[{\"role\": \"user\", \"content\": \"It was</s><s>a</s><s>She</s><s>and$answer</s><s>and then\"}]" > "$WORK/spelled"
"$talk" --messages "$WORK/spelled" --temp 0 -n 8 > "$WORK/whole" 2> /dev/null
cp "$s" "$WORK/kept"
"$talk" --messages "$WORK/spelled" --temp 0 -n 8 --session "$s" -v > "$WORK/parts" 2> "$WORK/err"
same "session: special tokens that a message spells" "$WORK/whole" "$WORK/parts"
echo "[{\"role\": \"user\", \"content\": \"It was\"}, {\"role\": \"assistant\", \"content\": \"a\"}, {\"role\": \"user\", \"content\": \"She\"}, {\"role\": \"assistant\", \"content\": \"$answer\"}]" > "$WORK/turns"
check "session: the same as turns is read on" sh -c "'$talk' --messages '$WORK/turns' --temp 0 -n 4 --session '$WORK/kept' -v 2>&1 | grep -q 'read [1-9] tokens'"

# Files that are no session of this program.
refused() { says "session: $1: refused" 1 "$2" "$talk" -n 3 --session "$WORK/bad"; }
good=$(wc -c < "$s")
: > "$WORK/bad"
refused "nothing" "not a session of burin's"
echo "my notes" > "$WORK/bad"
refused "a text" "not a session of burin's"
check "session: and left alone" test "$(cat "$WORK/bad")" = "my notes"
head -c $((good - 1)) "$s" > "$WORK/bad"
refused "cut short" "damaged"
{ cat "$s" && echo; } > "$WORK/bad"
refused "too long" "damaged"
# Header: magic 8, checksum 8, bytes 8, read 8, turns 8, slot 8, seed 8, random 32, mu 8, identity 16, tokens 8
for at in 8 16 24 32 40 48 56 90 112 119 121 400 $((good - 5)); do
    other=$((255 - $(od -An -tu1 -j "$at" -N 1 "$s")))
    # shellcheck disable=SC2059 # the format is the byte: numbers from 56 on are of random bits, so none can be told beforehand
    cp "$s" "$WORK/bad" && printf "\\$(printf %03o "$other")" | dd of="$WORK/bad" bs=1 seek="$at" conv=notrunc 2> /dev/null
    refused "byte $at" "damaged"
done
cp "$s" "$WORK/bad" && printf 'x' | dd of="$WORK/bad" bs=1 seek=100 conv=notrunc 2> /dev/null
refused "another identity" "of another model"
"$BURIN" build examples/austen --kv f16 -o "$WORK/other" > /dev/null 2>&1
says "session: of another build" 1 "of another model, or of one that was built with other options" "$WORK/other" -n 3 --session "$s"
check "session: files of which the sums are right" "$BUILD/tools/broken_sessions" "$talk" "$s" "$WORK/bad"
mkdir "$WORK/folder" && mkfifo "$WORK/fifo" && ln -s "$WORK/folder/there" "$WORK/link" && ln -s "$WORK/folder/there" "$WORK/s2.lock"
says "session: a folder" 1 "folder: it is no file" "$talk" -n 3 --session "$WORK/folder"
says "session: a pipe" 1 "fifo: it is no file" timeout 10 "$talk" -n 3 --session "$WORK/fifo"
says "session: a folder that is not there" 1 "--session /nowhere/s: No such file" "$talk" -n 3 --session /nowhere/s
says "session: no name" 1 "--session : expected a file's name" "$talk" --raw "It" -n 3 --session ""
long=$(head -c 250 /dev/zero | tr '\0' a)
says "session: a name that takes no ending" 1 "a: File name too long" "$talk" --raw "It" -n 3 --session "$WORK/$long"
check "session: which is known before the text" test "$("$talk" --raw "It" -n 3 --session "$WORK/$long" 2> "$WORK/err")" = ""
says "session: a link" 1 "link: it is a link" "$talk" --raw "It" -n 3 --session "$WORK/link"
ln "$WORK/kept" "$WORK/s3.lock" && mkdir "$WORK/s4.lock" && mkfifo "$WORK/s5.lock"
says "session: a hard link where its lock is" 0 "" "$talk" --raw "It" -n 3 --session "$WORK/s3"
check "session: which is left as it was" test -s "$WORK/kept" -a ! -e "$WORK/s3.lock"
says "session: a folder where its lock is" 1 "s4: Is a directory" "$talk" --raw "It" -n 3 --session "$WORK/s4"
says "session: a pipe where its lock is" 0 "" timeout 10 "$talk" --raw "It" -n 3 --session "$WORK/s5"
ln "$s" "$WORK/s6" && "$talk" -n 3 --session "$WORK/s6" < /dev/null > "$WORK/got" 2>&1
check "session: another name of the file keeps what it had" sh -c "! cmp -s '$s' '$WORK/s6' && [ \$(stat -c %h '$s') = 1 ]"
says "session: a link where its lock is" 1 "s2: its .lock is a link" "$talk" --raw "It" -n 3 --session "$WORK/s2"
check "session: which lead nowhere" test ! -e "$WORK/folder/there"
cp "$s" "$WORK/bad"
says "session: no room" 1 "bad: File too large" sh -c "ulimit -f 1; '$talk' --raw 'It was' -n 3 --session '$WORK/bad'"
check "session: and the old one stays" cmp "$s" "$WORK/bad"
check "session: nothing beside it" test "$(cd "$WORK" && echo bad*)" = bad
cp "$s" "$WORK/bad" && printf '1' | dd of="$WORK/bad" bs=1 seek=7 conv=notrunc 2> /dev/null
refused "another version" "of another version of burin"

# A session and the file of /save are private; programs resume one session one after the other.
rm -f "$s" "$WORK/turns"
(umask 0 && printf 'It was\n/save %s\n' "$WORK/turns" | "$talk" --chat -n 8 --session "$s" > "$WORK/got" 2>&1)
check "session: whatever the umask is" test "$(stat -c %a "$s" "$WORK/turns" | tr '\n' ' ')" = "600 600 "
chmod 644 "$WORK/turns" && printf '/save %s\n' "$WORK/turns" | "$talk" --chat > "$WORK/got" 2>&1
check "session: saved again" test "$(stat -c %a "$WORK/turns"; cat "$WORK/turns")" = "600
[]"
rm "$s"
"$talk" --raw "It was" -n 1 --temp 0 --session "$s" > /dev/null 2>&1
four() { for _ in 1 2 3 4; do (i=0 && while [ $i -lt $1 ]; do "$talk" -n 1 --temp 0 --session "$s" < /dev/null > /dev/null 2>> "$WORK/ran" || echo failed >> "$WORK/failed"; i=$((i + 1)); done) & done; wait; }
: > "$WORK/ran" && four "${RUNS:-15}"
runs=$((4 * ${RUNS:-15}))
"$talk" -n 1 --temp 0 --session "$s" -v < /dev/null > "$WORK/got" 2> "$WORK/err"
check "session: $runs runs of four programs at once lose nothing: $(head -n 1 "$WORK/err")" grep -q " of $((3 + 1 + runs)) tokens" "$WORK/err"
check "session: none of them failed" test ! -e "$WORK/failed"
check "session: and nothing is left beside it" test "$(cd "$WORK" && echo s.*)" = "s.*"
says "session: read only, without one" 2 "--session-read-only without --session" "$talk" --prompt-cache-ro
says "session: --perplexity" 1 "--session has no effect: --perplexity writes no text" "$talk" --perplexity "$WORK/fifo/x" --session "$s"

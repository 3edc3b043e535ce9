#!/bin/sh
# Prompts are read once: beginnings that a slot, another slot, memory or a file holds; slots saved and restored, as sessions of the
# command line; files that are damaged or foreign. The answers are the same bytes each time.
. tests/lib.sh
. tests/lib_server.sh
need "store: austen as a program" examples/austen/model.safetensors
unsanitized "store: replies"
[ -e /usr/include/event2/http.h ] || { skip "store: with libevent" "it is not here" && exit 0; }
"$BURIN" build examples/austen --with=server -o "$WORK/austen" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
first=$(head -c 900 examples/austen/held_out.txt | tr '\n"\\' '   ') second=$(tail -c 900 examples/austen/held_out.txt | tr '\n"\\' '   ')
body() { printf '{"prompt": "%s", "seed": 1, "max_tokens": 12}' "$1"; }
# asks PROMPT: its text in $text, tokens that were held in $cached
asks() {
    body "$1" > "$WORK/body"
    { printf 'POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' "$(wc -c < "$WORK/body")" && cat "$WORK/body"; } |
        "$BUILD/tools/http_client" "$port" raw 20 > "$WORK/reply"
    text=$(sed -n 's/.*"text": "\(.*\)", "logprobs.*/\1/p' "$WORK/reply") cached=$(sed -n 's/.*"cached_tokens": \([0-9]*\).*/\1/p' "$WORK/reply")
}
serving "$WORK/austen" -t 1 --parallel 1 || { cat "$WORK/served"; exit 1; }
asks "$first"
one=$text
check "store: nothing is held at first: $one" test -n "$one" -a "$cached" = 0
asks "$first"
check "store: the same prompt again: $cached" test "$cached" -gt 200 -a "$text" = "$one"
asks "$second"
two=$text
asks "$first"
check "store: a slot that another prompt took: $cached" test "$cached" -lt 20 -a "$text" = "$one"
stopped
serving "$WORK/austen" -t 1 --parallel 2
asks "$first"
asks "$first And"
check "store: a beginning that is longer: $cached" test "$cached" -gt 200
asks "$second"
asks "$first"
check "store: two slots: $cached" test "$cached" -gt 200 -a "$text" = "$one"
stopped
serving "$WORK/austen" -t 1 --parallel 1 --cache-ram 16
asks "$first"
asks "$second"
asks "$first"
check "store: from memory: $cached" test "$cached" -gt 200 -a "$text" = "$one"
stopped
cpu=$("$WORK/austen" --info | sed -n 's/^cpus \([^,;]*\).*/\1/p')
serving "$WORK/austen" -t 2 --parallel 1 --cache-dir "$WORK/cache"
asks "$first"
asks "$second"
stopped
check "store: files of its own" sh -c "test \$(ls '$WORK/cache' | wc -l) = 2 && ! ls -l '$WORK/cache' | grep '^-' | grep -v '^-rw-------'"
serving "$WORK/austen" -t 1 --parallel 1 --cache-dir "$WORK/cache" --cpu "$cpu"
asks "$first"
check "store: from a file, by another process on $cpu: $cached" test "$cached" -gt 200 -a "$text" = "$one"
asks "$second"
check "store: the other: $cached" test "$cached" -gt 200 -a "$text" = "$two"
stopped
cp -R "$WORK/cache" "$WORK/kept"
for file in "$WORK"/cache/*; do printf x | dd of="$file" bs=1 seek=3000 conv=notrunc 2> /dev/null; done
echo nothing > "$WORK/cache/$("$WORK/austen" --version | sed 's/.* //')-0000000000000000.session"
serving "$WORK/austen" -t 1 --parallel 1 --cache-dir "$WORK/cache"
asks "$first"
check "store: damaged files are read again: $cached" test "$cached" = 0 -a "$text" = "$one"
check "store: a file that is none is named" test "$(grep -c 'session: damaged; it is left out' "$WORK/served")" = 1
check "store: a damaged one, when it is used" test "$(grep -c 'session: damaged; it is read again' "$WORK/served")" = 1
asks "$second"
asks "$first"
check "store: a file replaces the damaged one: $cached" test "$cached" -gt 200 -a "$text" = "$one"
stopped

# two servers share a folder: what one has written after the other's start is found
serving "$WORK/austen" -t 1 --parallel 1 --cache-dir "$WORK/shared"
other=$server other_port=$port
serving "$WORK/austen" -t 1 --parallel 1 --cache-dir "$WORK/shared"
asks "$first"
tries=0
until [ -n "$(ls "$WORK/shared")" ] || [ $tries = 100 ]; do sleep 0.1 && tries=$((tries + 1)); done
check "store: an answer is in a file soon" test -n "$(ls "$WORK/shared")"
port=$other_port
asks "$first"
check "store: another server finds it: $cached" test "$cached" -gt 200 -a "$text" = "$one"
stopped
server=$other && stopped

# the end of a system message
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
chat() { printf 'POST /v1/chat/completions {"messages": [{"role": "system", "content": "%s"}, {"role": "user", "content": "%s"}], "seed": 1, "max_tokens": 5}\n' "$first" "$1"; }
serving "$WORK/talk" -t 1 --parallel 1 --cache-dir "$WORK/systems"
chat "It was" > "$WORK/requests"
asked 1 "$WORK/requests" "$WORK/alone"
stopped
check "store: files of the system message and of the answer" test "$(ls "$WORK/systems" | wc -l)" = 2
rm "$(ls -S "$WORK"/systems/* | head -n 1)"
serving "$WORK/talk" -t 1 --parallel 1 --cache-dir "$WORK/systems"
asked 1 "$WORK/requests" "$WORK/again"
same "store: the same answer after a stored system message" "$WORK/alone" "$WORK/again"
check "store: which was not read again" sh -c "grep -o '([0-9]* cached)' '$WORK/served' | grep -q '[0-9][0-9][0-9]'"
stopped

mkdir "$WORK/slots"
serving "$WORK/austen" -t 1 --parallel 2 --slot-save-path "$WORK/slots"
asks "$first"
reply "store: a slot is saved" '^200 {"id_slot": 0, "action": "save", "n_tokens": [0-9]+, "n_bytes": [0-9]+}$' POST '/slots/0?action=save' '{"filename": "a.session"}'
reply "store: it is erased" '^200 .*"n_tokens": 0' POST '/slots/0?action=erase' '{}'
asks "$first"
check "store: nothing is left: $cached" test "$cached" = 0
reply "store: into another slot" '^200 .*"id_slot": 1, "action": "restore"' POST '/slots/1?action=restore' '{"filename": "a.session"}'
for name in ../a .a a/b ''; do reply "store: no file \"$name\"" '^400 ' POST '/slots/0?action=save' "{\"filename\": \"$name\"}"; done
reply "store: no such file" '^404 ' POST '/slots/0?action=restore' '{"filename": "b"}'
reply "store: no such slot" '^404 ' POST '/slots/7?action=save' '{"filename": "b"}'
reply "store: no such action" '^400 ' POST '/slots/0?action=x' '{}'
stopped
check "store: the command line goes on from it" sh -c "'$WORK/austen' --session '$WORK/slots/a.session' --session-read-only --temp 0 -n 4 -v 2>&1 | grep -q 'read 1 tokens'"
if command -v qemu-aarch64-static > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then
    "$BURIN" build examples/austen --target=aarch64-linux-gnu -o "$WORK/arm" > "$WORK/out" 2>&1 || cat "$WORK/out"
    for file in "$WORK/slots/a.session" "$(ls "$WORK"/kept/*.session | head -n 1)"; do
        "$WORK/austen" --session "$file" --session-read-only --temp 0 -n 6 > "$WORK/expected" 2> "$WORK/err"
        qemu-aarch64-static "$WORK/arm" --session "$file" --session-read-only --temp 0 -n 6 -v > "$WORK/got" 2> "$WORK/err"
        same "store: ARM goes on from $(basename "$(dirname "$file")"): $(grep -o 'read [0-9]* tokens' "$WORK/err")" "$WORK/expected" "$WORK/got"
    done
else
    skip "store: ARM goes on from it" "no qemu-aarch64-static or aarch64-linux-gnu-gcc"
fi

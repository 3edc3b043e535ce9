#!/bin/sh
# The recipes of runtime/server/README.md: systemd takes the unit, and the program serves in a root folder that has nothing else, as a
# container from scratch is, as another user.
. tests/lib.sh
. tests/lib_server.sh
need "recipes: austen as a program" examples/austen/model.safetensors
unsanitized "recipes: replies"
[ -e /usr/include/event2/http.h ] || { skip "recipes: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
mkdir "$WORK/root"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/root/smol" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
sed -n '/# \/etc\/systemd\/system\/smol.service/,/WantedBy/s/^    //p' runtime/server/README.md | sed "s,/usr/local/bin/smol,$WORK/root/smol," > "$WORK/smol.service"
check "recipes: the unit has its parts" grep -q '^ExecStart=.*--serve 127.0.0.1:8080' "$WORK/smol.service"
if command -v systemd-analyze > /dev/null; then
    check "recipes: systemd takes the unit" sh -c "systemd-analyze verify '$WORK/smol.service' 2>&1 | grep -i 'smol.service' | grep . && exit 1 || exit 0"
else
    skip "recipes: systemd takes the unit" "no systemd-analyze"
fi
command=$(sed -n 's/^    ENTRYPOINT \[\(.*\)\]$/\1/p' runtime/server/README.md | tr -d '",' | sed 's/:8080/:0/')
user=$(sed -n 's/^    USER //p' runtime/server/README.md)
if ! chroot --userspec="$user" "$WORK/root" /smol --version > "$WORK/out" 2>&1; then
    skip "recipes: in an empty root folder" "$(head -n 1 "$WORK/out")"
    exit 0
fi
# shellcheck disable=SC2086 # words
chroot --userspec="$user" "$WORK/root" $command > "$WORK/served" 2>&1 &
server=$!
tries=0
until port=$(sed -n 's/.*serving at http.*:\([0-9]*\)$/\1/p' "$WORK/served") && [ -n "$port" ] || [ $tries = 200 ]; do sleep 0.05 && tries=$((tries + 1)); done
reply "recipes: in an empty root folder: $command" '^200 .*"content": "' POST /v1/chat/completions '{"messages": [{"role": "user", "content": "It was"}], "max_tokens": 4}'
stopped
check "recipes: it ends" test $? = 0

#!/bin/sh
# A server asked by the SDKs of OpenAI and Anthropic, where Python has them ($PYTHON).
. tests/lib.sh
. tests/lib_server.sh
need "clients: austen as a program" examples/austen/model.safetensors
unsanitized "clients: replies"
[ -e /usr/include/event2/http.h ] || { skip "clients: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "$WORK/talk" || { cat "$WORK/served"; exit 1; }
timeout 300 "${PYTHON:-python3}" tests/server/clients.py "$port" > "$WORK/said" 2>&1
status=$?
if [ $status = 77 ]; then
    skip "clients: by SDKs" "$(head -n 1 "$WORK/said")"
else
    sed 's/^\(not ok\|ok\) - /&clients: /' "$WORK/said"
    check "clients: all of them" test $status = 0
fi
stopped

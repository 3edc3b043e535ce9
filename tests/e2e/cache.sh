#!/bin/sh
# `burin run` builds once: the second time it needs no compiler; another option makes another program.
. tests/lib.sh
export XDG_CACHE_HOME="$WORK/cache"
run() { $BURIN run examples/austen --tokens 0,1114 -n 4 --temp 0 "$@"; }
check "cache: first run" run
run > "$WORK/expected"
(PATH=$WORK run > "$WORK/got" 2>&1)
same "cache: second run, without clang" "$WORK/expected" "$WORK/got"
programs() { find "$WORK/cache/burin/programs" -type f | wc -l; }
check "cache: one program" [ "$(programs)" = 1 ]
check "cache: options of the program make no other" run --seed 3
check "cache: still one program" [ "$(programs)" = 1 ]
check "cache: options of the build do" run --quant q8_0
check "cache: two programs" [ "$(programs)" = 2 ]

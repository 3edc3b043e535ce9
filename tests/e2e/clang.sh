#!/bin/sh
# Other names of clang than clang-19: $BURIN_CC, clang alone. What one is tried on is tried once.
. tests/lib.sh
unsanitized "clang"
model=examples/digits/digits.onnx
export XDG_CACHE_HOME="$WORK/cache"
mkdir "$WORK/bin"
printf '#!/bin/sh\necho "$@" >> "%s/calls"\nexec %s "$@"\n' "$WORK" "$(command -v clang-19)" > "$WORK/bin/clang"
chmod +x "$WORK/bin/clang"
tried() { grep -c probe.c "$WORK/calls"; }

check "clang: clang-19 builds" "$BURIN" build $model -o "$WORK/program" --mcpu=x86-64-v3
hash=$("$WORK/program" --random --hash)
check "clang: BURIN_CC is a path" env BURIN_CC="$WORK/bin/clang" "$BURIN" build $model -o "$WORK/other" --mcpu=x86-64-v3
check "clang: its program has the same bits" [ "$("$WORK/other" --random --hash)" = "$hash" ]
check "clang: the program says which compiler it was" sh -c '"$0" --info | grep -q "^compiler .* clang -O1"' "$WORK/other"
ln -s "$(command -v ar)" "$(command -v ld)" "$WORK/bin"
check "clang: clang is the only name on PATH" env PATH="$WORK/bin" "$BURIN" build $model -o "$WORK/alone" --mcpu=x86-64-v3
check "clang: it is what was taken" sh -c '"$0" --info | grep -q "^compiler .* clang -O1"' "$WORK/alone"
check "clang: the same bits again" [ "$("$WORK/alone" --random --hash)" = "$hash" ]
check "clang: it was tried once" [ "$(tried)" = 1 ]
says "clang: gcc is none" 1 "it must be clang 16 or later" env BURIN_CC=gcc "$BURIN" build $model -o "$WORK/none"

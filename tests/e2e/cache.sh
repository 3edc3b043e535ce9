#!/bin/sh
# `burin run` builds once: the second time it needs no compiler; another option makes another
# program. Compiled objects are reused, and the cache stays within its size.
. tests/lib.sh
export XDG_CACHE_HOME="$WORK/cache"
run() { $BURIN run examples/austen --mcpu=x86-64-v3 --tokens 0,1114 -n 4 --temp 0 "$@"; }
check "cache: first run" run
run > "$WORK/expected"
(PATH=$WORK run > "$WORK/got" 2>&1)
same "cache: second run, without clang" "$WORK/expected" "$WORK/got"
programs() { find "$WORK/cache/burin/programs" -type f ! -name '*.sum' | wc -l; }
check "cache: one program" [ "$(programs)" = 1 ]
check "cache: options of the program make no other" run --seed 3
check "cache: still one program" [ "$(programs)" = 1 ]
check "cache: options of the build do" run --quant q8_0
check "cache: two programs" [ "$(programs)" = 2 ]

# Without --mcpu the program has the code of this CPU alone, and the same bits.
here() { $BURIN run examples/austen "$@" --tokens 0,1114 -n 4 --temp 0; }
check "cache: the code of this CPU alone" test "$(here --info | sed -n 's/^cpus \(.*\); here: \([^,]*\),.*/\1 \2/p' | awk 'NF == 2 && $1 == $2')"
check "cache: and the same bits" test "$(here --logits-hash)" = "$(run --logits-hash)"
rm -rf "$WORK/cache/burin/programs"
run > "$WORK/expected"
check "cache: another program of the build" run --quant q8_0
programs_by_size() { find "$WORK/cache/burin/programs" -type f ! -name '*.sum' -exec ls -S {} +; }
large=$(programs_by_size | head -n 1) small=$(programs_by_size | tail -n 1)

$BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/austen" -v > "$WORK/said" 2>&1
check "cache: a build of the same compiles nothing" [ "$(grep -c 'compiling' "$WORK/said")" = 0 ]
compiled() { sed -n 's/^ *compiling \([^ ]*\.c\).*/\1/p' "$WORK/said" | sort -u | tr '\n' ' '; }

# What `make` has compiled of the runtime, in objects/ of burin's home, serves programs without a cache: only what differs by
# the model is compiled. Objects of other sources are not found.
mkdir "$WORK/home"
cp -R runtime dsl "$WORK/home"
for object in "$WORK"/cache/burin/objects/*/runtime-*.o; do
    mkdir -p "$WORK/home/objects/$(basename "${object%/*}")"
    cp "$object" "$WORK/home/objects/$(basename "${object%/*}")"
done
precompiled() { BURIN_HOME=$WORK/home XDG_CACHE_HOME=$WORK/fresh $BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/fast" -v > "$WORK/said" 2>&1; }
precompiled
check "cache: with a precompiled runtime: $(compiled)" [ "$(compiled)" = "model.c model_model.c " ]
check "cache: the program is the same" cmp "$WORK/austen" "$WORK/fast"
echo '// changed' >> "$WORK/home/runtime/base/escape.c"
rm -r "$WORK/fresh"
precompiled
check "cache: of a changed runtime: $(compiled)" sh -c 'case $1 in *runtime-*) ;; *) exit 1 ;; esac' - "$(compiled)"

# Another checkpoint of the architecture, under another name: the text of its kernels is equal.
cp -RL examples/austen "$WORK/chapter"
at=$(($(wc -c < "$WORK/chapter/model.safetensors") - 2))
printf '\021' | dd of="$WORK/chapter/model.safetensors" bs=1 seek=$at conv=notrunc 2> "$WORK/said"
$BURIN build "$WORK/chapter" --mcpu=x86-64-v3 -o "$WORK/chapter.program" -v > "$WORK/said" 2>&1
check "cache: of another checkpoint its descriptor alone is compiled: $(compiled)" [ "$(compiled)" = "model_model.c " ]
$BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/austen.so" > "$WORK/said" 2>&1
$BURIN build "$WORK/chapter" --mcpu=x86-64-v3 -o "$WORK/other.so" -v > "$WORK/said" 2>&1
check "cache: of another library its interface, too: $(compiled)" [ "$(compiled)" = "model_model.c other_api.c " ]

# Sources of a program besides the named file.
cat > "$WORK/add.txt" << 'END'
ir 10
opset 20
input x f32 [64,1,8,8]
tensor W f32 [1] external location=w.bin offset=0 length=4
node Add x W -> y
output y f32 [64,1,8,8]
END
"$BUILD/tools/onnx_of_text" "$WORK/add.onnx" < "$WORK/add.txt"
add() { $BURIN run "$WORK/add.onnx" --mcpu=x86-64-v3 --input x=examples/digits/images.npy --hash; }
printf '\0\0\200\77' > "$WORK/w.bin"
add > "$WORK/one"
printf '\0\0\0\100' > "$WORK/w.bin"
add > "$WORK/two"
check "cache: other external data is another program" test -s "$WORK/one" -a "$(cat "$WORK/one")" != "$(cat "$WORK/two")"

cp -R runtime dsl "$WORK"
echo '// changed' >> "$WORK/runtime/kernels/matmul.h"
BURIN_HOME=$WORK $BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/austen" -v > "$WORK/said" 2>&1
check "cache: after a change of a header it does" grep -q 'compiling model.c for x86-64-v3' "$WORK/said"
check "cache: ... but for what does not include it" [ "$(grep -c 'compiling runtime' "$WORK/said")" = 0 ]

# The program of q8_0 was used last, then the other; room for one more of the other's size.
bytes() { find "$WORK/cache/burin" -type f -exec cat {} + | wc -c; }
run > "$WORK/got"
room=$(((2 * $(wc -c < "$large") + $(wc -c < "$small") / 2) >> 10))
export BURIN_CACHE_SIZE=${room}K
check "cache: a third program" run --ctx 256
check "cache: what was used for longest not is gone" [ ! -e "$small" ]
check "cache: what was used later is there" test -e "$large"
(PATH=$WORK run --ctx 256 > "$WORK/got" 2>&1)
same "cache: ... and the third program" "$WORK/expected" "$WORK/got"
check "cache: all of it is within its size" [ "$(bytes)" -le $((room << 10)) ]
BURIN_CACHE_SIZE=0 run --ctx 128 > "$WORK/got" 2>&1
check "cache: without room the program of this run is all" [ "$(find "$WORK/cache/burin" -type f ! -name '*.sum' ! -name secret | wc -l)" = 1 ]
# What another run uses is not removed beside it, and runs that trim beside each other end well.
run > "$WORK/got"
entry=$(dirname "$(programs_by_size | head -n 1)")
BURIN_CACHE_SIZE=0 flock -s "$entry" $BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/austen" > "$WORK/said" 2>&1
check "cache: an entry in use is not removed" test -d "$entry"
BURIN_CACHE_SIZE=0 $BURIN build examples/austen --mcpu=x86-64-v3 -o "$WORK/austen" > "$WORK/said" 2>&1
check "cache: then it is" test ! -d "$entry"
digits() { for _ in 1 2 3; do BURIN_CACHE_SIZE=0 "$@" || return 1; done; }
for i in 1 2 3; do
    (digits $BURIN build examples/digits/digits.onnx --mcpu=x86-64-v3 -o "$WORK/digits-$i" > "$WORK/said-$i" 2>&1; echo $? >> "$WORK/ended") &
done
(digits $BURIN run examples/digits/digits.onnx --mcpu=x86-64-v3 --info > "$WORK/said-4" 2>&1; echo $? >> "$WORK/ended") &
wait
check "cache: builds beside each other that trim it: $(tr '\n' ' ' < "$WORK/ended")" test "$(sort -u "$WORK/ended")" = 0
BURIN_CACHE_SIZE=lots run --ctx 64 > "$WORK/said" 2>&1
check "cache: a wrong size is said" grep -q 'BURIN_CACHE_SIZE=lots is no size, 8G is taken' "$WORK/said"

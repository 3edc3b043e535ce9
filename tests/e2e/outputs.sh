#!/bin/sh
# Outputs of a build: the same bytes every time, a folder of C for other compilers, libraries; and
# nothing if it ends early.
. tests/lib.sh
model="examples/austen --mcpu=x86-64-v3"
tokens=0,1114,306
hash_of() { "$@" --tokens $tokens -n 20 --temp 0 --logits-hash 2>&1; }

mkdir "$WORK/one" "$WORK/two"
check "outputs: a program" $BURIN build $model -o "$WORK/one/austen"
hash_of "$WORK/one/austen" > "$WORK/expected"
check "outputs: another" $BURIN build $model -o "$WORK/two/other"
check "outputs: two builds are the same bytes" cmp "$WORK/one/austen" "$WORK/two/other"
cp "$WORK/one/austen" "$WORK/stripped" && strip "$WORK/stripped"
hash_of "$WORK/stripped" > "$WORK/got"
same "outputs: strip keeps the weights" "$WORK/expected" "$WORK/got"

check "outputs: a folder of C" $BURIN build $model -o "$WORK/story.c"
check "outputs: the folder builds with gcc" make -C "$WORK/story.c" -s clean story story.a CC=gcc CFLAGS=-O1
hash_of "$WORK/story.c/story" > "$WORK/got"
same "outputs: its program of gcc gives the same bits" "$WORK/expected" "$WORK/got"
check "outputs: it installs" make -C "$WORK/story.c" -s install PREFIX=/usr DESTDIR="$WORK/installed"
check "outputs: program, library and header" test -x "$WORK/installed/usr/bin/story" -a -f "$WORK/installed/usr/lib/libstory.a" -a -f "$WORK/installed/usr/include/story.h"
check "outputs: it uninstalls" make -C "$WORK/story.c" -s uninstall PREFIX=/usr DESTDIR="$WORK/installed"
check "outputs: nothing stays" test -z "$(find "$WORK/installed" -type f)"
cmp -s LICENSE "$WORK/story.c/LICENSE" || not_ok "outputs: the folder has the text of its licence"
find "$WORK/story.c" -type f \( -name '*.[chS]' -o -name '*.def' -o -name Makefile \) | while read -r file; do
    head -n 1 "$file" | grep -q '^\(//\|#\) SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception$' || echo "$file"
done > "$WORK/unmarked"
check "outputs: every file of it says its licence: $(tr '\n' ' ' < "$WORK/unmarked")" test ! -s "$WORK/unmarked"
for std in c11 c2x gnu2x; do
    check "outputs: the folder builds without a warning as $std" make -C "$WORK/story.c" -s clean story_model.o story_x86_64_v3.o \
        story_api.o runtime/main/main.o runtime/engine/threads.o runtime/measure/profile.o runtime/program/npy.o CC=gcc CFLAGS="-fsyntax-only -Wall -Wextra -Werror -std=$std"
done
check "outputs: the folder again, over the old one" $BURIN build $model -o "$WORK/story.c"

mkdir "$WORK/a b,c"
check "outputs: built and named in folders with blanks and commas" env TMPDIR="$WORK/a b,c" $BURIN build $model -o "$WORK/a b,c/it, too"
check "outputs: ... it runs" "$WORK/a b,c/it, too" --info
TMPDIR=$WORK/none $BURIN build $model -o "$WORK/early" > "$WORK/said" 2>&1
check "outputs: why a build failed stands last: $(tail -n 2 "$WORK/said" | head -n 1)" \
    test "$(tail -n 2 "$WORK/said" | head -n 1)" = "burin: error: cannot make a folder in $WORK/none: No such file or directory"

for kind in o a so; do
    check "outputs: story.$kind" $BURIN build $model -o "$WORK/story.$kind"
    check "outputs: a C program with story.$kind" gcc -Wall -Werror -I"$WORK" tests/e2e/library.c "$WORK/story.$kind" -lm -lpthread \
        -Wl,-rpath,"$WORK" -o "$WORK/user"
    "$WORK/user" > "$WORK/got" 2>&1
    "$WORK/one/austen" --tokens $tokens -n 5 --temp 0 > "$WORK/five"
    same "outputs: it writes the same with story.$kind" "$WORK/five" "$WORK/got"
done

# A signal in the middle: no program, no temporary file.
mkdir "$WORK/empty" "$WORK/tmp"
for signal in INT TERM; do
    TMPDIR=$WORK/tmp $BURIN build $model -o "$WORK/empty/austen" > "$WORK/said" 2>&1 &
    builder=$! tries=0
    while [ -z "$(ls "$WORK/tmp")" ] && [ $tries -lt 1000 ]; do sleep 0.01 && tries=$((tries + 1)); done
    kill -$signal $builder
    wait $builder
    status=$?
    [ $status -gt 128 ] && [ -z "$(ls -A "$WORK/empty" "$WORK/tmp" | grep -v :)" ]
    check "outputs: SIG$signal leaves nothing behind (status $status)" [ $? = 0 ]
done

# A killed build leaves folders; the next one removes them, but nothing else: none without the mark, no link, none in use.
model=examples/digits/digits.onnx
marked_folder() { mkdir "$1" && echo "burin works here" > "$1/burin.scratch"; }
marked_folder "$WORK/elsewhere"
for place in tmp/burin empty/.digits; do
    mkdir "$WORK/$place.mine00"
    marked_folder "$WORK/$place.longer00"
    ln -s "$WORK/elsewhere" "$WORK/$place.linked"
done
cat > "$WORK/slow-clang" << EOF
#!/bin/sh
case "\$*" in */.digits.*) echo \$\$ > "$WORK/linking" && exec sleep 60 ;; esac
exec clang-19 "\$@"
EOF
chmod +x "$WORK/slow-clang"
ls -A "$WORK/empty" "$WORK/tmp" > "$WORK/before"
BURIN_CC=$WORK/slow-clang TMPDIR=$WORK/tmp $BURIN build $model -o "$WORK/empty/digits" > "$WORK/said" 2>&1 &
builder=$! tries=0
while [ ! -s "$WORK/linking" ] && [ $tries -lt 12000 ]; do sleep 0.01 && tries=$((tries + 1)); done
kill -9 $builder "$(cat "$WORK/linking")"
wait $builder 2> "$WORK/err"
left=$(ls -A "$WORK/empty" "$WORK/tmp" | diff "$WORK/before" - | grep -c '^>')
check "outputs: a killed build leaves two folders ($left)" test "$left" = 2
for place in tmp/burin empty/.digits; do marked_folder "$WORK/$place.held00"; done
(flock 8 && flock 9 && TMPDIR=$WORK/tmp $BURIN build $model -o "$WORK/empty/digits" > "$WORK/said" 2>&1) \
    8< "$WORK/tmp/burin.held00" 9< "$WORK/empty/.digits.held00"
check "outputs: the next one builds" test -x "$WORK/empty/digits"
rm "$WORK/empty/digits"
ls -A "$WORK/empty" "$WORK/tmp" | grep -v held00 > "$WORK/after"
check "outputs: not what others work in" test -d "$WORK/tmp/burin.held00" -a -d "$WORK/empty/.digits.held00"
same "outputs: and removes them, and nothing of others" "$WORK/before" "$WORK/after"
check "outputs: not where links lead" test -f "$WORK/elsewhere/burin.scratch"

# Emitted code has no warnings, for a decoder, an encoder-decoder and networks.
for model in examples/austen examples/numbers examples/digits/digits.onnx "$SHARED/data/families/whisper" "$SHARED/data/families/vit"; do
    name=$(basename "$model" .onnx)
    [ -e "$model" ] || { skip "outputs: no warnings: $name" "the shared data is missing"; continue; }
    $BURIN build "$model" --mcpu=x86-64-v3 -o "$WORK/warn.c" > "$WORK/said" 2>&1
    for cc in gcc clang-19; do
        check "outputs: no warnings of $cc: $name" $cc -std=gnu17 -O1 -march=x86-64-v3 -DBURIN_CPU=x86_64_v3 -Wall -Wextra -Werror \
            -I"$WORK/warn.c" -I"$WORK/warn.c/runtime" -fsyntax-only "$WORK/warn.c/warn.c" "$WORK/warn.c/warn_model.c"
    done
done

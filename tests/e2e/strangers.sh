#!/bin/sh
# Files, links and caches of others: nothing hangs, nothing is followed or removed, and a cache is a convenience.
. tests/lib.sh
unsanitized strangers
model="examples/austen --mcpu=x86-64-v3"
mkdir "$WORK/tmp" && export TMPDIR="$WORK/tmp"
nothing_left() { check "strangers: $1: nothing is left behind" [ -z "$(ls -A "$WORK/tmp" "$WORK/out" 2> /dev/null | grep -v ':$')" ]; }
soon() { timeout 60 "$@"; }

# Pipes, devices, sockets and folders, wherever a file is read.
mkfifo "$WORK/fifo" && mkdir "$WORK/folder" && mkdir "$WORK/out"
for what in "$WORK/fifo" /dev/zero; do
    name=$(basename "$what")
    for end in burin onnx gguf ir bin json safetensors; do ln -sf "$what" "$WORK/$name.$end"; done
    says "strangers: a model: $name" 1 "is not a regular file" soon $BURIN build "$what" -o "$WORK/out/x"
    says "strangers: an onnx: $name" 1 "is not a regular file" soon $BURIN build "$WORK/$name.onnx" -o "$WORK/out/x"
    says "strangers: an onnx, run: $name" 1 "is not a regular file" soon $BURIN run "$WORK/$name.onnx"
    says "strangers: an ir: $name" 1 "is not a regular file" soon $BURIN inspect "$WORK/$name.ir" --start-from=fuse
    says "strangers: a description: $name" 1 "is not a regular file" soon $BURIN build "$WORK/$name.burin" --weights examples/austen -o "$WORK/out/x"
    says "strangers: weights: $name" 1 "is not a regular file" soon $BURIN build dsl/models/llama.burin --weights "$what" -o "$WORK/out/x"
    says "strangers: a tokenizer: $name" 1 "is not a regular file" soon $BURIN build $model --tokenizer "$what" -o "$WORK/out/x"
    for file in config.json model.safetensors tokenizer.json; do
        rm -rf "$WORK/folder" && cp -R examples/austen "$WORK/folder" && ln -sf "$what" "$WORK/folder/$file"
        says "strangers: $file: $name" 1 "is not a regular file" soon $BURIN build "$WORK/folder" -o "$WORK/out/x"
    done
    for file in tokenizer_config.json generation_config.json; do
        rm -rf "$WORK/folder" && cp -R examples/austen "$WORK/folder" && ln -sf "$what" "$WORK/folder/$file"
        soon $BURIN inspect "$WORK/folder" > "$WORK/said" 2>&1
        check "strangers: $file: $name does not hang (status $?)" [ $? -le 1 ]
    done
done
says "strangers: a folder as a model" 1 "cannot open" soon $BURIN build dsl/models/llama.burin --weights "$WORK/folder/config.json/" -o "$WORK/out/x"
rm -rf "$WORK/folder" && cp -R examples/austen "$WORK/folder"
ln -s . "$WORK/folder/one" && ln -s . "$WORK/folder/two"
check "strangers: folders that lead around in circles" soon $BURIN run "$WORK/folder" --mcpu=x86-64-v3 -n 0 --tokens 0
nothing_left "special files"

# A file that becomes shorter while it is read.
truncate -s 3G "$WORK/big.safetensors"
header='{"a":{"dtype":"F32","shape":[805306368],"data_offsets":[0,3221225472]}}'
{ printf '\107\0\0\0\0\0\0\0%s' "$header" && truncate -s 3221225551 /dev/stdout; } > "$WORK/big.safetensors"
printf 'model m\nconfig hidden_size = 1\ngraph net(x: [T]) -> [T] { return x * sum(weight("a", [805306368]), axes: [0]) }\n' > "$WORK/big.burin"
for delay in 0.1 0.3; do
    truncate -s 3221225551 "$WORK/big.safetensors"
    soon $BURIN build "$WORK/big.burin" --weights "$WORK/big.safetensors" --mcpu=x86-64-v3 -o "$WORK/out/big" > "$WORK/said" 2>&1 &
    builder=$!
    sleep $delay && truncate -s 4096 "$WORK/big.safetensors"
    wait $builder
    check "strangers: a file that becomes shorter, after $delay s (status $?)" [ $? -le 1 ]
done
nothing_left "a file that becomes shorter"

# Links in the places that burin writes to and empties.
mkdir "$WORK/precious" && echo mine > "$WORK/precious/file"
intact() { check "strangers: $1: what a link leads to is whole" [ "$(cat "$WORK/precious/file")" = mine ]; }
ln -s "$WORK/precious" "$WORK/out/story.c"
says "strangers: a folder of C over a link" 1 "is a link" $BURIN build $model -o "$WORK/out/story.c"
rm "$WORK/out/story.c"
$BURIN build $model -o "$WORK/out/story.c" > "$WORK/said" 2>&1
mv "$WORK/out/story.c/runtime" "$WORK/runtime" && ln -s "$WORK/precious" "$WORK/out/story.c/runtime"
says "strangers: a folder of C with a link in it" 1 "holds runtime, which burin did not write" $BURIN build $model -o "$WORK/out/story.c"
rm "$WORK/out/story.c/runtime" && mv "$WORK/runtime" "$WORK/out/story.c/runtime"
make -C "$WORK/out/story.c" -s CC=clang-19 CFLAGS=-O0 story.a > "$WORK/said" 2>&1
check "strangers: what make makes in a folder of C is replaced" $BURIN build $model -o "$WORK/out/story.c"
check "strangers: all of it" [ ! -e "$WORK/out/story.c/story.a" ]
ln -sf "$WORK/precious/file" "$WORK/out/austen"
check "strangers: a program in the place of a link is refused" [ "$($BURIN build $model -o "$WORK/out/austen" 2>&1 | grep -c "austen is there, and is a link")" = 1 ]
mkdir -p "$WORK/out/x.temps" && ln -s "$WORK/precious/file" "$WORK/out/x.temps/model.c"
$BURIN build $model --save-temps -o "$WORK/out/x" > "$WORK/said" 2>&1
mkdir "$WORK/dump" && ln -s "$WORK/precious/file" "$WORK/dump/constants"
$BURIN build $model --dump-ir="$WORK/dump" -o "$WORK/out/y" > "$WORK/said" 2>&1
intact outputs
export XDG_CACHE_HOME="$WORK/links"
mkdir -p "$WORK/links/burin/objects" && ln -s "$WORK/precious" "$WORK/links/burin/objects/0123456789abcdef"
mkdir "$WORK/links/burin/programs" && mkdir "$WORK/links/burin/programs/notes" && echo mine > "$WORK/links/burin/programs/notes/file"
ln -s "$WORK/precious" "$WORK/links/burin/more"
run() { soon $BURIN run $model --tokens 0,1114 -n 4 --temp 0; }
BURIN_CACHE_SIZE=0 run > "$WORK/expected" 2>&1
intact "trimming the cache"
check "strangers: trimming removes entries alone" [ "$(cat "$WORK/links/burin/programs/notes/file")" = mine ]

# Caches that cannot be used, and damage in one that can.
without() {
    name=$1
    shift
    "$@" > "$WORK/got" 2> "$WORK/said"
    _status=$?
    same "strangers: without a cache: $name" "$WORK/expected" "$WORK/got"
    [ -s "$WORK/got" ] || sed "s/^/# status $_status: /" "$WORK/said"
    check "strangers: said once: $name" [ "$(grep -c 'nothing is kept for the next run' "$WORK/said")" = 1 ]
}
mkdir -p "$WORK/shared/burin" && chmod 777 "$WORK/shared/burin"
touch "$WORK/file"
XDG_CACHE_HOME=/proc/none without "cannot be made" run
XDG_CACHE_HOME=$WORK/file without "below a file" run
XDG_CACHE_HOME=$WORK/shared without "others can write there" run
chmod 770 "$WORK/shared/burin"
XDG_CACHE_HOME=$WORK/shared without "a group can write there" run
chmod 700 "$WORK/shared/burin" && chmod 775 "$WORK/shared"
XDG_CACHE_HOME=$WORK/shared without "a group can write to its parent" run
check "strangers: without a cache: which folder it is" grep -q "next run: $WORK/shared: others can write there" "$WORK/said"
chmod 700 "$WORK/shared" && echo "a secret of them" > "$WORK/shared/burin/secret" && chmod 660 "$WORK/shared/burin/secret"
XDG_CACHE_HOME=$WORK/shared without "a group can write its secret" run
HOME=/nonexistent/x XDG_CACHE_HOME='' without "HOME=/nonexistent" env PATH="$PATH" HOME=/proc/nonexistent XDG_CACHE_HOME= timeout 60 $BURIN run $model --tokens 0,1114 -n 4 --temp 0
nothing_left_in_tmp=$(ls -A "$WORK/tmp")
check "strangers: programs without a cache leave nothing" [ -z "$nothing_left_in_tmp" ]
export XDG_CACHE_HOME="$WORK/good"
(umask 0 && run > "$WORK/got")
program=$(find "$WORK/good/burin/programs" -type f ! -name '*.sum')
check "strangers: whatever the umask is, a cache is its user's alone" [ -z "$(find "$WORK/good" -perm /077)" ]
was=$(ls -i "$program")
chmod 720 "$program"
run > "$WORK/got" 2>&1
same "strangers: a program that others could write is made again" "$WORK/expected" "$WORK/got"
check "strangers: ... in its place" [ "$was" != "$(ls -i "$program")" ]
damage() { printf "$1" | dd of="$2" bs=1 seek="$3" conv=notrunc 2> /dev/null; }
damage '\0\0\0\0\0\0\0\0' "$program" 64
run > "$WORK/got" 2>&1
same "strangers: a damaged program is made again" "$WORK/expected" "$WORK/got"
truncate -s 1000 "$program"
run > "$WORK/got" 2>&1
same "strangers: a program that was cut is made again" "$WORK/expected" "$WORK/got"
for object in $(find "$WORK/good/burin/objects" -name '*.o'); do damage 'damage' "$object" 2000; done
check "strangers: damaged objects are made again" $BURIN build $model -o "$WORK/out/again"
"$WORK/out/again" --tokens 0,1114 -n 4 --temp 0 > "$WORK/got"
same "strangers: and are whole" "$WORK/expected" "$WORK/got"

# Descriptors that are closed: a file that is written does not become standard error.
"$WORK/out/again" --tokens 0,1114 -n 2 --temp 0 --logits "$WORK/one.npy" > "$WORK/got" 2>&1
for closed in '2>&-' '0<&- 2>&-'; do
    rm -f "$WORK/two.npy"
    eval "\"\$WORK/out/again\" --tokens 0,1114 -n 2 --temp 0 -v --logits \"\$WORK/two.npy\" $closed" > "$WORK/got"
    same "strangers: a program's results with $closed" "$WORK/one.npy" "$WORK/two.npy"
    eval "$BURIN build $model -o \"\$WORK/out/closed\" -v $closed" > "$WORK/got"
    same "strangers: a build with $closed" "$WORK/out/again" "$WORK/out/closed"
done
for closed in '>&-' '0<&- >&- 2>&-'; do
    rm -f "$WORK/two.npy"
    eval "\"\$WORK/out/again\" --tokens 0,1114 -n 2 --temp 0 --logits \"\$WORK/two.npy\" 2> \"\$WORK/got\" $closed"
    check "strangers: text has nowhere to go with $closed" test $? = 1
    check "strangers: ... and not into the file of results" sh -c "[ ! -e '$WORK/two.npy' ] || head -c 6 '$WORK/two.npy' | grep -qa NUMPY"
done

#!/bin/sh
# ONNX models whose sizes a run decides, in the interpreter, against ONNX Runtime (onnx_sizes.py): padding modes, SAME padding,
# ceil_mode, transposed convolutions, TopK of a product of sizes, ranges that values bound, sizes without a name.
. tests/lib.sh
mkdir "$WORK/cases" && tar -C "$WORK/cases" -xf tests/e2e/onnx_sizes.tar.xz
near() { "$BUILD/tools/npy_near" "$1" "$2" 1e-5 largest; }

for folder in "$WORK"/cases/*; do
    name=$(basename "$folder")
    for run in 0 1; do
        inputs=
        for file in "$folder/in$run".*.npy; do
            key=${file##*/in"$run".}
            [ -f "$file" ] && inputs="$inputs --input ${key%.npy}=$file"
        done
        [ -n "$inputs" ] || continue
        # shellcheck disable=SC2086 # words
        if ! "$BURIN" run "$folder/model.onnx" --as=net --interpret $inputs --output "$WORK/out" > "$WORK/said" 2>&1; then
            not_ok "sizes: $name, run $run"
            sed 's/^/# /' "$WORK/said"
            continue
        fi
        for want in "$folder/want$run".*.npy; do
            check "sizes: $name, run $run: ${want##*/}" near "$WORK/out/${want##*/want"$run".}" "$want"
        done
        rm -r "$WORK/out"
    done
done

# A run that finds more than --max has room for is refused; nothing is written beyond the room.
for op in NonZero Unique; do
    printf 'ir 10\nopset 20\ninput x f32 [1000]\nnode %s x -> y\noutput y\n' $op | "$BUILD/tools/onnx_of_text" "$WORK/$op.onnx"
    "$BURIN" build "$WORK/$op.onnx" --mcpu=native --max=count=2 -o "$WORK/$op" > "$WORK/said" 2>&1
    says "sizes: $op finds more than --max" 1 "more results than there is room for" "$WORK/$op" --random
done

# --bind gives an input a value: the branch that it decides is read alone, and the input is none of the program. Options of the same
# list add up.
printf '%s\n' 'ir 10' 'opset 20' 'input x f32 [h,w]' 'input sr i64 []' 'tensor k i64 [] raw 16000' 'tensor z i64 [1] raw 0' \
    'graph then' 'node Neg x -> a' 'output a' 'end' 'graph else' 'node Squeeze x z -> b' 'output b' 'end' \
    'node Equal sr k -> c' 'node If c -> y : then_branch=graph:then else_branch=graph:else' 'output y' |
    "$BUILD/tools/onnx_of_text" "$WORK/bound.onnx"
"$BURIN" run "$WORK/bound.onnx" --bind sr=16000 --dim=h=2 --dim=w=3 --as=net --interpret --random > "$WORK/bound" 2>&1
check "sizes: --bind of a number, --dim twice" grep -q '^y: f32\[2, 3\]' "$WORK/bound"
says "sizes: --bind of no input" 2 "there is no input no" "$BURIN" inspect "$WORK/bound.onnx" --bind no=1

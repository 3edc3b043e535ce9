#!/bin/sh
# Names that the runtime, make or C have other uses for: as those of models, libraries and folders of C.
. tests/lib.sh
unsanitized "names"
model=examples/digits/digits.onnx

cp "$model" "$WORK/encoder.onnx"
check "names: a model named as a file of the runtime" "$BURIN" build "$WORK/encoder.onnx" -o "$WORK/program" --mcpu=x86-64-v3
check "names: its program runs" "$WORK/program" --random --hash

# library NAME PREFIX: a host that calls the header's functions
library() {
    check "names: -o $1" "$BURIN" build "$model" -o "$WORK/$1" --mcpu=x86-64-v3
    printf '#include "%s.h"\nint main(void) { return %s_abi_version() != %s_ABI_VERSION; }\n' "${1%.*}" "$2" "$2" > "$WORK/host.c"
    check "names: a host of $1 that calls $2_abi_version" gcc -Wall -Werror "-I$WORK" "$WORK/host.c" "$WORK/$1" -lm -lpthread -o "$WORK/host"
    check "names: $1 runs" env LD_LIBRARY_PATH="$WORK" "$WORK/host"
}
library burin.a model_burin
library "9 lives.o" model_9_lives
library encoder.so model_encoder

"$BURIN" build "$model" -o "$WORK/runtime.c" --mcpu=x86-64-v3 > "$WORK/said"
prefix=$(sed -n 's/.*its C names begin with \(.*\)_$/\1/p' "$WORK/said")
check "names: make in runtime.c" make -s -j2 -C "$WORK/runtime.c" CC=clang-19 CFLAGS=-O0
check "names: the program of runtime.c runs" "$WORK/runtime.c/${prefix:-runtime}" --version

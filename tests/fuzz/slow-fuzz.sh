#!/bin/sh
# libFuzzer on the ONNX reader and on the description language, SECONDS (60) each, under AddressSanitizer and UBSan, from valid
# models and damaged ones. What it finds is left in $BUILD/fuzz/found-*; replay: $BUILD/fuzz/onnx FILE.
. tests/lib.sh
SECONDS_EACH=${FUZZ_SECONDS:-60}
fuzz=build/fuzz
need fuzz "$(clang-19 -print-file-name=libclang_rt.fuzzer-$(uname -m).a)"

flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
check "fuzz: the targets compile" make -j2 BUILD=$fuzz CC=clang-19 CFLAGS="$flags -fsanitize=fuzzer-no-link" $fuzz/fuzz/onnx $fuzz/fuzz/dsl

corpus() {
    mkdir -p "$WORK/$1"
    case $1 in
        dsl) cp dsl/models/*.burin tests/golden/*.burin tests/errors/*.burin "$WORK/$1/" ;;
        onnx)
            broken=$PWD/$BUILD/tools/broken_onnx
            for name in $("$broken" --list); do
                (mkdir -p "$WORK/one" && cd "$WORK/one" && "$broken" "$name" 2> /dev/null; cp model.onnx "$WORK/onnx/$name")
            done
            for model in "$BUILD"/conformance/onnx/backend/test/data/node/*/model.onnx; do
                [ -e "$model" ] && cp "$model" "$WORK/onnx/$(echo "$model" | cksum | tr ' ' -)"
            done
            ;;
    esac
}

for target in onnx dsl; do
    corpus $target > /dev/null 2>&1
    check "fuzz: $target, $SECONDS_EACH seconds" "$fuzz/fuzz/$target" -max_total_time="$SECONDS_EACH" -close_fd_mask=2 -detect_leaks=0 \
        -timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$fuzz/found-$target-" "$WORK/$target"
done

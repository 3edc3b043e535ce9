#!/bin/sh
# Programs with musl, by its target and by --sysroot: the bits of here, by several threads.
. tests/lib.sh
unsanitized "musl"
digits=examples/digits/digits.onnx
hash=$("$BURIN" run $digits -- --input examples/digits/images.npy --hash)
musl=$(uname -m)-linux-musl
if [ -e /usr/include/x86_64-linux-musl ] && [ "$musl" = x86_64-linux-musl ]; then
    check "musl: builds" "$BURIN" build $digits --target=$musl --mcpu=native -o "$WORK/musl"
    check "musl: the hash of here" [ "$("$WORK/musl" --input examples/digits/images.npy --hash -t 2)" = "$hash" ]
    "$BURIN" run examples/austen -- "It is" -n 20 --temp 0 --logits-hash -t 2 > "$WORK/expected"
    "$BURIN" run examples/austen --target=$musl -- "It is" -n 20 --temp 0 --logits-hash -t 2 > "$WORK/got"
    same "musl: austen" "$WORK/expected" "$WORK/got"
    check "musl: no glibc in it" sh -c "! grep -q 'GNU C Library' '$WORK/musl'"
    mkdir "$WORK/root" && ln -s /usr/include/$musl "$WORK/root/include" && ln -s /usr/lib/$musl "$WORK/root/lib"
    check "musl: by --sysroot" "$BURIN" build $digits --sysroot="$WORK/root" --mcpu=native -o "$WORK/other"
    check "musl: by --sysroot: the same program" cmp "$WORK/musl" "$WORK/other"
else skip "musl: builds" "no musl-dev"; fi
for machine in aarch64-linux-musl:aarch64:max arm-linux-musleabihf:arm:max; do
    triple=${machine%%:*} qemu=${machine#*:}
    [ -e "/usr/include/$triple" ] && command -v "qemu-${qemu%:*}-static" > /dev/null || { skip "musl: $triple" "no musl or no qemu for it" && continue; }
    says "musl: $triple has the hash of here" 0 "$hash" "$BURIN" run $digits --target=$triple -- --input examples/digits/images.npy --hash -t 2
done

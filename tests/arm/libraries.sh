#!/bin/sh
# A .a and a .so of a network for each target, linked with a host program by gcc and by clang for
# it, and run under qemu: the bits of this machine. Their external symbols are only those that the
# header names.
. tests/lib.sh
unsanitized "libraries"
. tests/lib_machines.sh
. tests/lib_windows.sh
"$BUILD/tools/onnx_of_text" "$WORK/tiny.onnx" << 'END'
ir 10
opset 20
input x f32 [2,6]
output y f32 [2,5]
tensor w f32 [6,5] raw 0.3 -1.25 0.5 2 1.5 -0.75 0.1 0.2 1 -2 0.7 0.9 -0.4 3 0.25 1.1 -0.6 0.8 -1.7 0.05 2.3 -0.2 0.4 0.6 -0.9 1.3 0.35 -1.5 0.65 0.15
node MatMul x w -> z
node Tanh z -> t
node Softmax t -> y
END

# made FOLDER OPTIONS...: tiny.a, tiny.so and tiny.h, of the same objects
made() {
    _folder=$1
    shift
    mkdir -p "$_folder"
    check "libraries: $*" "$BURIN" build "$WORK/tiny.onnx" "$@" -o "$_folder/tiny.a"
}

host=tests/arm/library_host.c words="-std=gnu17 -O1 -Wall -Wextra -Werror"
made "$WORK/here" --mcpu=native
# shellcheck disable=SC2086 # words
gcc $words -I"$WORK/here" $host "$WORK/here/tiny.a" -lm -lpthread -o "$WORK/here/host" && "$WORK/here/host" > "$WORK/expected"
check "libraries: here" grep -q '^hash ' "$WORK/expected"
needs_only nm "$WORK/here/tiny.a"

# runs NAME COMMAND...: the hash of here
runs() {
    _what=$1
    shift
    "$@" > "$WORK/got" 2>&1
    same "libraries: $_what" "$WORK/expected" "$WORK/got"
}

for triple in $machines; do
    has_machine "$triple" || { skip "libraries: $triple" "no compiler or qemu for it" && continue; }
    _level=$(level_of "$triple")
    made "$WORK/$triple" --target="$triple" --mcpu="${_level% *}"
    check "libraries: $triple, shared" "$BURIN" build "$WORK/tiny.onnx" --target="$triple" --mcpu="${_level% *}" -o "$WORK/$triple/tiny.so"
    needs_only "$triple-nm" "$WORK/$triple/tiny.a"
    needs_only "$triple-nm" "$WORK/$triple/tiny.so"
    for cc in "$triple-gcc" "clang-19 --target=$triple"; do
        # shellcheck disable=SC2086 # words
        check "libraries: $cc links tiny.a" $cc $words -static -I"$WORK/$triple" $host "$WORK/$triple/tiny.a" -lm -lpthread -o "$WORK/host"
        runs "tiny.a by $cc" "$(emulator_of "$triple")" -cpu "${_level#* }" "$WORK/host"
        # shellcheck disable=SC2086 # words
        check "libraries: $cc links tiny.so" $cc $words -I"$WORK/$triple" $host "$WORK/$triple/tiny.so" -Wl,-rpath,"$WORK/$triple" -o "$WORK/host"
        runs "tiny.so by $cc" "$(emulator_of "$triple")" -L "/usr/$triple" -cpu "${_level#* }" "$WORK/host"
    done
done

# ---- Windows ----
exports() { x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/^\t\[ *[0-9]*\] \([a-z_]*\)$/\1/p' | tr '\n' ' '; }
imports() { x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/^.*DLL Name: //p' | tr '\n' ' '; }
windows_host() {
    _what=$1
    shift
    # shellcheck disable=SC2086 # words
    check "libraries: $_what for Windows" "$@" -o "$WORK/windows/host.exe"
    has_wine || { skip "libraries: $_what runs" "wine is missing" && return; }
    runs "$_what under wine" sh -c '"$@" | tr -d "\r"' - timeout 120 /usr/lib/wine/wine64 "$WORK/windows/host.exe"
}
if has_mingw; then
    folder=$WORK/windows
    made "$folder" $windows --mcpu=x86-64
    check "libraries: $windows, a .dll" "$BURIN" build "$WORK/tiny.onnx" $windows --mcpu=x86-64 -o "$folder/tiny.dll"
    check "libraries: tiny.dll needs what every Windows has: $(imports "$folder/tiny.dll")" \
        [ "$(imports "$folder/tiny.dll")" = "KERNEL32.dll msvcrt.dll api-ms-win-core-synch-l1-2-0.dll " ]
    sed -n 's/^[^/].* \**\(tiny_[a-z_]*\)(.*/\1/p' "$folder/tiny.h" | sort -u | tr '\n' ' ' > "$WORK/named"
    check "libraries: tiny.dll exports what its header says: $(exports "$folder/tiny.dll")" [ "$(exports "$folder/tiny.dll")" = "$(cat "$WORK/named")" ]
    needs_only x86_64-w64-mingw32-nm "$folder/tiny.a"
    has_wine && wine_drive
    for cc in x86_64-w64-mingw32-gcc "clang-19 --target=x86_64-windows-gnu --sysroot=/usr --ld-path=$(command -v x86_64-w64-mingw32-ld)"; do
        # shellcheck disable=SC2086 # words
        windows_host "tiny.a by ${cc%% *}" $cc $words -I"$folder" $host "$folder/tiny.a" -static -lpthread -lsynchronization
        # shellcheck disable=SC2086 # words
        windows_host "tiny.dll by ${cc%% *}" $cc $words -I"$folder" $host "$folder/tiny.dll"
    done
else
    skip "libraries: Windows" "mingw-w64 is missing"
fi

has_boards || { skip "libraries: thumbv7em" "no qemu-system-arm or arm-none-eabi-gcc" && exit 0; }
folder=$WORK/thumbv7em cpu="-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -mthumb"
made "$folder" --target=thumbv7em-none-eabihf --mcpu=cortex-m7
needs_only arm-none-eabi-nm "$folder/tiny.a"
# clang takes gcc's newlib and linker.
# shellcheck disable=SC2086 # words
newlib=$(dirname "$(arm-none-eabi-gcc $cpu -print-file-name=libc.a)") libgcc=$(arm-none-eabi-gcc $cpu -print-libgcc-file-name)
for cc in arm-none-eabi-gcc "clang-19 --target=thumbv7em-none-eabihf -isystem /usr/include/newlib -fshort-enums"; do
    objects=
    for source in $host examples/boards/start.c; do
        object=$WORK/$(basename "$source" .c).o objects="$objects $object"
        # shellcheck disable=SC2086 # words
        check "libraries: $cc compiles $source" $cc $words $cpu -DBOARD -Iexamples/boards -I"$folder" -c "$source" -o "$object"
    done
    # shellcheck disable=SC2086 # words
    check "libraries: of $cc, linked" arm-none-eabi-ld --gc-sections -z noexecstack -T examples/boards/board.ld --defsym=FLASH_START=0 --defsym=FLASH_BYTES=512K \
        --defsym=CONSTANTS_START=512K --defsym=CONSTANTS_BYTES=3584K --defsym=RAM_START=0x20000000 --defsym=RAM_BYTES=4M \
        $objects "$folder/tiny.a" -L"$newlib" -lm -lc "$libgcc" -o "$WORK/host.elf"
    runs "tiny.a on mps2-an500 by $cc" run_board mps2-an500 "$WORK/host.elf"
done

#!/bin/sh
# A folder of C for a board builds by its own Makefile and by CMake, with GNU's compiler and no flags of the caller; the library runs in
# qemu with the hash of here; the module of Zephyr names what is there.
. tests/lib.sh
unsanitized "board folders"
target=thumbv7em-none-eabihf
"$BURIN" build examples/digits/digits.onnx --target=$target --mcpu=cortex-m7 --dim batch=1 -o "$WORK/digits.c" > "$WORK/said" 2>&1
check "board folders: a folder" test -f "$WORK/digits.c/Makefile"
check "board folders: Zephyr's module" grep -qx '  cmake: .' "$WORK/digits.c/zephyr/module.yml"
check "board folders: no word is left open" sh -c "! grep -q '@[A-Z]*@' '$WORK/digits.c/Makefile' '$WORK/digits.c/CMakeLists.txt' '$WORK/digits.c/zephyr/module.yml' '$WORK/digits.c/library.json'"
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool > "$WORK/log" || { skip "board folders: in qemu" "no $tool" && exit 0; }
done
hash=$("$BURIN" run examples/digits/digits.onnx --mcpu=native -- --input examples/digits/images.npy --hash)
# runs NAME LIBRARY: an image of the library, in qemu
runs() {
    rm -rf "$WORK/boards" && mkdir -p "$WORK/boards/mps2-an500"
    cp "$2" "$WORK/boards/mps2-an500/digits.a" && cp "$WORK/digits.c/digits.h" "$WORK/boards/mps2-an500"
    says "board folders: $1" 0 "hash $hash" make -s -C examples/boards BURIN=false OUT="$WORK/boards" mps2-an500
}
check "board folders: make" make -s -C "$WORK/digits.c"
runs "by make" "$WORK/digits.c/digits.a"
check "board folders: make arduino" make -s -C "$WORK/digits.c" arduino
check "board folders: Arduino's names" grep -qx 'ldflags=-ldigits' "$WORK/digits.c/arduino/library.properties"
runs "Arduino's library" "$WORK/digits.c/arduino/src/cortex-m7/fpv5-d16-hard/libdigits.a"
cat > "$WORK/platformio.py" << 'EOF'
import json, subprocess, sys
build = json.load(open("library.json"))["build"]
board = "-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard".split()
sources = [f[2:-1] for f in build["srcFilter"] if f[0] == "+"]
for f in sources:
    subprocess.check_call(["arm-none-eabi-gcc"] + board + build["flags"].split() + ["-c", f, "-o", "pio_" + f[:-2] + ".o"])
subprocess.check_call(["arm-none-eabi-ar", "rcs", sys.argv[1]] + ["pio_" + f[:-2] + ".o" for f in sources])
EOF
if command -v python3 > "$WORK/log"; then
    check "board folders: PlatformIO's flags and files" sh -c "cd '$WORK/digits.c' && python3 '$WORK/platformio.py' '$WORK/pio.a' && rm pio_*.o"
    runs "by PlatformIO's flags" "$WORK/pio.a"
fi
rm -r "$WORK/digits.c/arduino"
check "board folders: burin replaces what make made" "$BURIN" build examples/digits/digits.onnx --target=$target --mcpu=cortex-m7 --dim batch=1 -o "$WORK/digits.c"
command -v cmake > "$WORK/log" || { skip "board folders: CMake" "no cmake" && exit 0; }
check "board folders: CMake" cmake -S "$WORK/digits.c" -B "$WORK/cmake" -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc -DCMAKE_ASM_COMPILER=arm-none-eabi-gcc
check "board folders: CMake builds" cmake --build "$WORK/cmake"
runs "by CMake" "$WORK/cmake/libdigits.a"

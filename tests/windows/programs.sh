#!/bin/sh
# Programs for Windows: a text model, a network and an encoder-decoder, under wine: the text and the bits of here, on each level of the
# CPU; what they import, files, pipes and names beyond ASCII.
. tests/lib.sh
unsanitized "windows"
. tests/lib_windows.sh
has_mingw || { skip "windows: builds" "mingw-w64 is missing" && exit 0; }
digits=examples/digits/digits.onnx images=examples/digits/images.npy
check "windows: digits builds" "$BURIN" build $digits $windows --mcpu=x86-64,x86-64-v3,x86-64-v4 -o "$WORK/digits"
check "windows: austen builds" "$BURIN" build examples/austen $windows --mcpu=x86-64-v3 -o "$WORK/austen.exe"
check "windows: numbers builds" "$BURIN" build examples/numbers $windows --mcpu=x86-64-v3 -o "$WORK/numbers.exe"
for program in digits austen numbers; do
    x86_64-w64-mingw32-objdump -p "$WORK/$program.exe" | sed -n 's/^.*DLL Name: //p' | sort | tr '\n' ' ' > "$WORK/dlls"
    check "windows: $program needs what every Windows has: $(cat "$WORK/dlls")" [ "$(cat "$WORK/dlls")" = "KERNEL32.dll msvcrt.dll " ]
done
has_wine || { skip "windows: programs run" "wine is missing" && exit 0; }
wine_drive
expected=$("$BURIN" run $digits -- --input $images --hash)
for level in x86-64 x86-64-v3 x86-64-v4; do
    got=$(wine "$WORK/digits.exe" --input $images --hash --cpu $level -t 3 2>&1)
    case $got in *"does not have it"*) skip "windows: digits on $level" "no such CPU" ;; *) check "windows: digits on $level: $got" [ "$got" = "$expected" ] ;; esac
done
"$BURIN" run examples/austen -- "It is" -n 64 --temp 0 --logits-hash -t 2 > "$WORK/expected"
wine "$WORK/austen.exe" "It is" -n 64 --temp 0 --logits-hash -t 2 > "$WORK/got"
same "windows: austen writes what it writes here" "$WORK/expected" "$WORK/got"
"$BURIN" run examples/numbers -- einhundertacht --logits-hash -t 2 > "$WORK/expected"
wine "$WORK/numbers.exe" einhundertacht --logits-hash -t 2 > "$WORK/got"
same "windows: numbers writes what it writes here" "$WORK/expected" "$WORK/got"

# ---- what is the system's ----
austen() { wine "$WORK/austen.exe" "$@"; }
"$BURIN" run examples/austen -- --tokenize 'Grüße, 世界 *?' > "$WORK/expected"
austen --tokenize 'Grüße, 世界 *?' > "$WORK/got"
same "windows: arguments are UTF-8, and no patterns" "$WORK/expected" "$WORK/got"
printf 'It is a\r\n\032truth' > "$WORK/prompt"
"$BURIN" run examples/austen -- -f "$WORK/prompt" --tokenize > "$WORK/expected"
austen -f - --tokenize < "$WORK/prompt" > "$WORK/got"
same "windows: pipes and files are bytes" "$WORK/expected" "$WORK/got"
"$BURIN" run examples/austen -- "It is" -n 16 --seed 1 --session "$WORK/here.session" > "$WORK/expected"
austen "It is" -n 16 --seed 1 --session "$WORK/säßion" > "$WORK/got"
same "windows: a session" "$WORK/expected" "$WORK/got"
same "windows: a file by a name in UTF-8, of the same bytes" "$WORK/here.session" "$WORK/säßion"
"$BURIN" run examples/austen -- -n 16 --seed 1 --session "$WORK/here.session" > "$WORK/expected"
austen -n 16 --seed 1 --session "$WORK/säßion" > "$WORK/got"
same "windows: a session goes on" "$WORK/expected" "$WORK/got"
austen "It is" -n 200 2> "$WORK/said" | head -c 4 > /dev/null
check "windows: a reader that goes away is no error: $(cat "$WORK/said")" [ ! -s "$WORK/said" ]
head -c 1000000 "$WORK/austen.exe" > "$WORK/short.exe"
says "windows: a file that was cut" 1 "the program's own file ends too early" wine "$WORK/short.exe" x
says "windows: a file that is not there" 1 "cannot read $WORK/none: No such file or directory" austen -f "$WORK/none"
mkdir "$WORK/out"
wine "$WORK/digits.exe" --input $images --output "$WORK/out/neu-ß" > "$WORK/log" 2>&1
check "windows: digits writes a folder" [ -s "$WORK/out/neu-ß/logits.npy" ]
says "windows: burin run --target" 0 "$expected" "$BURIN" run $digits $windows -- --input $images --hash

#!/bin/sh
# Programs for Windows: a text model, a network and an encoder-decoder, under wine: the text and the bits of here, on each level of the
# CPU; what they import, files, pipes and names beyond ASCII.
. tests/lib.sh
unsanitized "windows"
. tests/lib_windows.sh
has_mingw || { skip "windows: builds" "mingw-w64 is missing" && exit 0; }
digits=examples/digits/digits.onnx images=examples/digits/images.npy
check "windows: digits builds" "$BURIN" build $digits $windows --mcpu=x86-64,x86-64-v3,x86-64-v4 -o "$WORK/digits"
mkdir "$WORK/talk"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do
    ln -s "$PWD/examples/austen/$file" "$WORK/talk/$file"
done
cat > "$WORK/talk/chat_template.jinja" << 'END'
{%- for m in messages %}
    {%- if m.role == 'stop' %}{{ raise_exception('Nobody stops "us".') }}{% endif %}
    {%- if m.role == 'now' %}{{ raise_exception(strftime_now('%d %b %Y %-d %e %F %T %A %j %H:%M %% %D')) }}{% endif %}
    {{- bos_token + m.content + eos_token }}
{%- endfor %}
END
check "windows: austen builds" "$BURIN" build "$WORK/talk" $windows --mcpu=x86-64-v3 -o "$WORK/austen.exe"
check "windows: numbers builds" "$BURIN" build examples/numbers $windows --mcpu=x86-64-v3 -o "$WORK/numbers.exe"
for program in digits austen numbers; do
    x86_64-w64-mingw32-objdump -p "$WORK/$program.exe" | sed -n 's/^.*DLL Name: //p' | tr '\n' ' ' > "$WORK/dlls"
    check "windows: $program needs what every Windows has: $(cat "$WORK/dlls")" \
        [ "$(cat "$WORK/dlls")" = "KERNEL32.dll msvcrt.dll api-ms-win-core-synch-l1-2-0.dll " ]
done
has_wine || { skip "windows: programs run" "wine is missing" && exit 0; }
wine_drive
expected=$("$BURIN" run $digits -- --input $images --hash)
for level in x86-64 x86-64-v3 x86-64-v4; do
    got=$(wine "$WORK/digits.exe" --input $images --hash --cpu $level -t 3 2>&1)
    case $got in *"does not have it"*) skip "windows: digits on $level" "no such CPU" ;; *) check "windows: digits on $level: $got" [ "$got" = "$expected" ] ;; esac
done
check "windows: austen builds for here" "$BURIN" build "$WORK/talk" --mcpu=native -o "$WORK/austen"
here() { "$WORK/austen" "$@"; }
here --raw "It is" -n 64 --temp 0 --logits-hash -t 2 > "$WORK/expected"
wine "$WORK/austen.exe" --raw "It is" -n 64 --temp 0 --logits-hash -t 2 > "$WORK/got"
same "windows: austen writes what it writes here" "$WORK/expected" "$WORK/got"
"$BURIN" run examples/numbers -- einhundertacht --logits-hash -t 2 > "$WORK/expected"
wine "$WORK/numbers.exe" einhundertacht --logits-hash -t 2 > "$WORK/got"
same "windows: numbers writes what it writes here" "$WORK/expected" "$WORK/got"

# ---- what is the system's ----
austen() { wine "$WORK/austen.exe" "$@"; }
here --tokenize 'Grüße, 世界 *?' > "$WORK/expected"
austen --tokenize 'Grüße, 世界 *?' > "$WORK/got"
same "windows: arguments are UTF-8, and no patterns" "$WORK/expected" "$WORK/got"
printf 'It is a\r\n\032truth' > "$WORK/prompt"
here -f "$WORK/prompt" --tokenize > "$WORK/expected"
austen -f - --tokenize < "$WORK/prompt" > "$WORK/got"
same "windows: pipes and files are bytes" "$WORK/expected" "$WORK/got"
here "It is" -n 16 --seed 1 --session "$WORK/here.session" > "$WORK/expected"
austen "It is" -n 16 --seed 1 --session "$WORK/säßion" > "$WORK/got"
same "windows: a session" "$WORK/expected" "$WORK/got"
same "windows: a file by a name in UTF-8, of the same bytes" "$WORK/here.session" "$WORK/säßion"
here -n 16 --seed 1 --session "$WORK/here.session" > "$WORK/expected"
austen -n 16 --seed 1 --session "$WORK/säßion" > "$WORK/got"
same "windows: a session goes on" "$WORK/expected" "$WORK/got"
for role in user stop; do
    printf '[{"role": "%s", "content": "It was"}]' $role > "$WORK/m.json"
    here --messages "$WORK/m.json" --temp 0 -n 8 --json 2>&1 | sed 's/^austen: //' > "$WORK/expected"
    austen --messages "$WORK/m.json" --temp 0 -n 8 --json 2>&1 | sed 's/^austen.exe: //' > "$WORK/got"
    same "windows: --messages, role $role" "$WORK/expected" "$WORK/got"
done
printf '[{"role": "now", "content": ""}]' > "$WORK/m.json"
LC_ALL=C date '+austen.exe: %d %b %Y %-d %e %F' > "$WORK/expected"
austen --messages "$WORK/m.json" 2>&1 | grep -o '^austen.exe: .* ....-..-..' > "$WORK/got"
LC_ALL=C date '+austen.exe: %d %b %Y %-d %e %F' > "$WORK/later"
check "windows: dates: $(cat "$WORK/got")" grep -qxFf "$WORK/got" "$WORK/expected" "$WORK/later"
printf 'It was\n/undo\nIt is\n' | here --chat --temp 0 -n 8 > "$WORK/expected"
printf 'It was\n/undo\nIt is\n' | austen --chat --temp 0 -n 8 > "$WORK/got"
same "windows: --chat through a pipe" "$WORK/expected" "$WORK/got"
austen "It is" -n 200 2> "$WORK/said" | head -c 4 > /dev/null
check "windows: a reader that goes away is no error: $(cat "$WORK/said")" [ ! -s "$WORK/said" ]
head -c 1000000 "$WORK/austen.exe" > "$WORK/short.exe"
says "windows: a file that was cut" 1 "the program's own file ends too early" wine "$WORK/short.exe" x
says "windows: a file that is not there" 1 "cannot read $WORK/none: No such file or directory" austen -f "$WORK/none"
mkdir "$WORK/out"
wine "$WORK/digits.exe" --input $images --output "$WORK/out/neu-ß" > "$WORK/log" 2>&1
check "windows: digits writes a folder" [ -s "$WORK/out/neu-ß/logits.npy" ]
says "windows: burin run --target" 0 "$expected" "$BURIN" run $digits $windows -- --input $images --hash

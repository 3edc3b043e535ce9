#!/bin/sh
# Texts to speech by a voice of random weights in the form of Piper's (tests/e2e/voice/generate.py): ONNX Runtime's samples, sentences,
# pipes, phonemes of a program espeak-ng, options, bad input.
. tests/lib.sh
tar -xJf tests/e2e/voice/tiny.tar.xz -C "$WORK"
tiny=$WORK/tiny
check "voice builds" "$BURIN" build "$tiny/voice.onnx" -o "$WORK/voice" 2> "$WORK/log"
says "voice: the bounds are told" 0 "longer texts than 512 ids, or 1536 frames of sound" "$BURIN" inspect "$tiny/voice.onnx" --stop-after=infer

# A program in place of espeak-ng: the words of standard input, without capitals; its arguments go to a file.
mkdir "$WORK/bin"
printf '#!/bin/sh\necho "$@" >> "%s"\ntr A-Z a-z | sed "s/^/ /; s/xx/(en)a(de)/"\n' "$WORK/asked" > "$WORK/bin/espeak-ng"
chmod +x "$WORK/bin/espeak-ng"
PATH=$WORK/bin:$PATH
voice() { "$WORK/voice" "$@" < /dev/null; }
samples() { tail -c +45 "$1"; }

voice --phonemes "ab, c" --noise 0 -o "$WORK/got.wav"
samples "$WORK/got.wav" > "$WORK/got"
same "voice: samples without noise" "$tiny/expected.pcm" "$WORK/got"
head -c 44 "$WORK/got.wav" | od -An -tu4 > "$WORK/got"
bytes=$(wc -c < "$tiny/expected.pcm")
printf '1179011410 %d 1163280727 544501094\n16 65537 8000 16000\n1048578 1635017060 %d\n' $((bytes + 36)) "$bytes" > "$WORK/expected"
tr -s ' ' < "$WORK/got" | sed 's/^ //' > "$WORK/header"
same "voice: header" "$WORK/expected" "$WORK/header"

# Texts: phonemes of each clause, its mark, a pause of 0.2 s after a sentence.
voice "AB, C" --noise 0 -o "$WORK/text.wav"
same "voice: a text" "$WORK/got.wav" "$WORK/text.wav"
printf '%s\n' "-q --ipa -v en-us --stdin" "-q --ipa -v en-us --stdin" > "$WORK/expected"
same "voice: espeak-ng is asked for the phonemes of each clause" "$WORK/expected" "$WORK/asked"
voice "xxb, c" --noise 0 -o "$WORK/text.wav"
same "voice: notes about languages are left out" "$WORK/got.wav" "$WORK/text.wav"
{ cat "$tiny/expected.pcm" && head -c 3200 /dev/zero && cat "$tiny/expected.pcm"; } > "$WORK/expected"
voice "ab, c" "ab, c" --noise 0 -o "$WORK/two.wav"
samples "$WORK/two.wav" > "$WORK/got"
same "voice: two texts" "$WORK/expected" "$WORK/got"
printf 'ab, c\nab, c\n' | "$WORK/voice" --noise 0 | cat > "$WORK/piped.wav"
samples "$WORK/piped.wav" > "$WORK/got"
same "voice: lines of a pipe to a pipe" "$WORK/expected" "$WORK/got"
printf 'ab, c\nab, c\n' > "$WORK/lines"
voice -f "$WORK/lines" --noise 0 -o - > "$WORK/file.wav"
same "voice: to a file of the shell" "$WORK/two.wav" "$WORK/file.wav"
voice "Dr. A. b! c? d.e a... b" --noise 0 -v -o "$WORK/text.wav" 2> "$WORK/log"
: > "$WORK/asked"
voice "Dr. A. b! c? d.e a... b" --noise 0 -o "$WORK/text.wav" 2> /dev/null
check "voice: clauses end at marks before a space: $(wc -l < "$WORK/asked")" test "$(wc -l < "$WORK/asked")" = 4
long=$(printf 'abcde %.0s' $(seq 200))
check "voice: a long text is said in parts" voice "$long" -o "$WORK/long.wav"
head -c 9000 /dev/zero | tr '\0' '\200' > "$WORK/bytes"
timeout 20 "$WORK/voice" -f "$WORK/bytes" -o "$WORK/bytes.wav" 2> "$WORK/log"
check "voice: bytes that are no text end" test $? -lt 2

# Noise: by seed, the same for all threads and CPUs.
for seed in 1 2; do voice "ab, c" --seed $seed -t 1 | samples - > "$WORK/seed$seed"; done
check "voice: another seed sounds differently" test "$(cksum < "$WORK/seed1")" != "$(cksum < "$WORK/seed2")"
for options in "-t 2" "--cpu x86-64-v3"; do
    # shellcheck disable=SC2086
    voice "ab, c" --seed 1 $options | samples - > "$WORK/got"
    same "voice: the same sound with $options" "$WORK/seed1" "$WORK/got"
done
voice "ab, c" --noise 0 --speed 0.5 -o "$WORK/slow.wav"
check "voice: half the speed is longer" test "$(wc -c < "$WORK/slow.wav")" -gt $((bytes + 44))
voice "aqb" --noise 0 -o "$WORK/text.wav" 2> "$WORK/log"
check "voice: characters without a sound are named" grep -q "no sound for: q" "$WORK/log"

# refused TEXT ARGUMENT...: status 1 or 2, nothing on standard output, TEXT in the message
refused() {
    _text=$1
    shift
    rm -f "$WORK/none.wav"
    voice "$@" > "$WORK/out" 2> "$WORK/log"
    _status=$?
    _case="voice: $(echo "$_text" | cut -c 1-40)"
    check "$_case: refused" test $_status -eq 1 -o $_status -eq 2
    check "$_case: nothing is written" test ! -s "$WORK/out" -a ! -e "$WORK/none.wav"
    check "$_case: the message" grep -qF -- "$_text" "$WORK/log"
}
refused "this model has one voice" "a" --voice anna -o "$WORK/none.wav"
refused "give a text or --phonemes" "a" --phonemes "b" -o "$WORK/none.wav"
refused "No such file" "a" -o "$WORK/none/none.wav"
refused "too long for this voice" --phonemes "$(printf 'abcde%.0s' $(seq 200))" -o "$WORK/none.wav"
refused "line 1 is no text" -f "$tiny/voice.onnx" -o "$WORK/none.wav"
printf 'ab\tc\r\nd\001\n' > "$WORK/control"
refused "line 2 is no text" -f "$WORK/control" -o "$WORK/none.wav"
refused "from 0.1 to 10" "a" --speed 0 -o "$WORK/none.wav"
printf '#!/bin/sh\nexit 1\n' > "$WORK/bin/espeak-ng"
refused "espeak-ng: it failed" "a" -o "$WORK/none.wav"
rm "$WORK/bin/espeak-ng"
for tool in rm cut cat grep; do ln -s "$(command -v $tool)" "$WORK/bin/$tool"; done
whole=$PATH
PATH=$WORK/bin
refused "apt install espeak-ng" "a" -o "$WORK/none.wav"
PATH=$whole

# The JSON file: another kind of phonemes, several speakers, fields that are not supported.
variant() { mkdir -p "$WORK/$1" && cp "$tiny/voice.onnx" "$WORK/$1/" && sed "$2" "$tiny/voice.onnx.json" > "$WORK/$1/voice.onnx.json"; }
variant letters 's/"phoneme_type": "espeak"/"phoneme_type": "text"/'
check "voice of characters builds" "$BURIN" build "$WORK/letters/voice.onnx" --mcpu=native -o "$WORK/letters/voice" 2> "$WORK/log"
"$WORK/letters/voice" "AB, C" --noise 0 -o "$WORK/text.wav"
voice --phonemes "ab, c" --noise 0 -o "$WORK/got.wav"
same "voice: characters of a text" "$WORK/got.wav" "$WORK/text.wav"
variant pinyin 's/"phoneme_type": "espeak"/"phoneme_type": "pinyin"/'
says "voice: another kind of phonemes is named" 0 "the voice's JSON file: phoneme_type is neither" "$BURIN" inspect "$WORK/pinyin/voice.onnx" --stop-after=infer
variant speakers 's/"num_speakers": 1/"num_speakers": 2/'
says "voice: speakers that the network lacks" 0 "is not for the inputs and outputs of this network" "$BURIN" inspect "$WORK/speakers/voice.onnx" --stop-after=infer
variant scales 's/"length_scale": 1.5/"length_scale": 0/'
says "voice: a scale out of its range" 0 "inference has a scale out of its range" "$BURIN" inspect "$WORK/scales/voice.onnx" --stop-after=infer
variant ids 's/\[5\]/[-5]/'
says "voice: an id below 0" 0 "has a phoneme without a list of ids" "$BURIN" inspect "$WORK/ids/voice.onnx" --stop-after=infer
check "voice: a program of tensors builds" "$BURIN" build "$tiny/voice.onnx" --as=net --max=phonemes=8,range=64 --mcpu=native -o "$WORK/net"
says "voice: --as=net takes tensors" 0 "write DIR/OUTPUT.npy" "$WORK/net" --help

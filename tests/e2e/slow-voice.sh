#!/bin/sh
# A Piper voice as fetched says 20 sentences, and whisper-base writes them down; of the small voice of voice.sh the same samples on
# every CPU here, with any number of threads, and on ARM.
. tests/lib.sh
unsanitized "voice"
tar -xJf tests/e2e/voice/tiny.tar.xz -C "$WORK"
say() { "$@" --phonemes "ab, c dee" --seed 5 -o - < /dev/null | cat; }
check "tiny voice: builds" "$BURIN" build "$WORK/tiny/voice.onnx" -o "$WORK/all"
say "$WORK/all" -t 1 > "$WORK/expected"
for cpu in $("$WORK/all" --info | sed -n 's/^cpus \(.*\); here.*/\1/p' | tr -d ','); do
    say "$WORK/all" --cpu "$cpu" -t 2 > "$WORK/got" 2> "$WORK/log"
    grep -q "does not have it" "$WORK/log" && continue
    same "tiny voice: the same samples on $cpu" "$WORK/expected" "$WORK/got"
done
check "tiny voice: builds for ARM" "$BURIN" build "$WORK/tiny/voice.onnx" --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
say qemu-aarch64-static -cpu cortex-a72 "$WORK/arm" -t 2 > "$WORK/got" 2> "$WORK/log"
same "tiny voice: the same samples on ARM" "$WORK/expected" "$WORK/got"

models=${BURIN_MODELS:-$HOME/.cache/burin-models}
need "the circle" "$models/voice/en_US-joe-medium.onnx" "$models/whisper-base"
command -v espeak-ng > /dev/null || {
    skip "the circle" "espeak-ng is not installed"
    exit 0
}
cat > "$WORK/said" << 'E2'
The compiler reads the model and writes a program.
Nothing is beside it, and nothing is hidden.
Please bring me seven red apples and two lemons.
On Tuesday the train to London leaves at half past nine.
She opened the window because the room was too warm.
My brother plays the piano every evening after dinner.
The river is higher than it was last spring.
We walked along the beach and looked for shells.
How many books can you carry up the stairs?
The old bridge was closed for repairs in March.
There is a small garden behind the blue house.
He forgot his umbrella and came home completely wet.
Could you tell me where the nearest station is?
The doctor said that she should drink more water.
Children were laughing in the street until it became dark.
A good teacher explains the same thing in many ways.
The wind blew the leaves across the empty market square.
I would like a cup of tea with a little milk.
They built the tower with stones from the valley.
Tomorrow we will visit the museum and the castle.
E2
check "voice: builds" "$BURIN" build "$models/voice/en_US-joe-medium.onnx" --mcpu=native -o "$WORK/voice"
check "whisper-base: builds" "$BURIN" build "$models/whisper-base" --mcpu=native -o "$WORK/whisper"
echo "the same numbers on every machine." > "$WORK/expected"
"$WORK/whisper" --language en examples/same.wav > "$WORK/got" < /dev/null
same "whisper-base: examples/same.wav" "$WORK/expected" "$WORK/got"
set --
n=0
while IFS= read -r line; do
    n=$((n + 1))
    "$WORK/voice" "$line" -o "$WORK/$n.wav" < /dev/null
    set -- "$@" "$WORK/$n.wav"
done < "$WORK/said"
"$WORK/whisper" --language en "$@" > "$WORK/heard" < /dev/null

# words FILE: in small letters, without punctuation
words() { tr 'A-Z\n' 'a-z ' < "$1" | tr -d '.,?!"' | tr -s ' ' '\n'; }
words "$WORK/said" > "$WORK/a"
words "$WORK/heard" > "$WORK/b"
wrong=$(diff "$WORK/a" "$WORK/b" | grep -c '^[<>]')
all=$(grep -c . "$WORK/a")
check "circle: whisper-base hears what the voice says ($wrong words of $all differ, at most 5 %)" test $((wrong * 20)) -le "$all"

#!/bin/sh
# whisper-base as fetched: transformers' texts of recordings in several formats, segments; and of the small Whisper of whisper.sh the
# same bits on every CPU here, with any number of threads, and on ARM.
. tests/lib.sh
unsanitized "whisper-base"
tar -xJf tests/e2e/whisper/tiny.tar.xz -C "$WORK"
hash_of() { "$@" --temp 0 "$WORK/tiny/long.wav" --language en --logits-hash | tail -1; }
check "tiny: builds" "$BURIN" build "$WORK/tiny" -o "$WORK/all"
hash_of "$WORK/all" -t 1 > "$WORK/expected"
for cpu in $("$WORK/all" --info | sed -n 's/^cpus \(.*\); here.*/\1/p' | tr -d ','); do
    hash_of "$WORK/all" --cpu "$cpu" -t 2 > "$WORK/got" 2>&1
    grep -q "does not have it" "$WORK/got" && continue
    same "tiny: the same bits on $cpu" "$WORK/expected" "$WORK/got"
done
check "tiny: builds for ARM" "$BURIN" build "$WORK/tiny" --target=aarch64-linux-gnu --mcpu=armv8-a -o "$WORK/arm"
hash_of qemu-aarch64-static -cpu cortex-a72 "$WORK/arm" -t 2 > "$WORK/got" 2>&1
same "tiny: the same bits on ARM" "$WORK/expected" "$WORK/got"

model=${BURIN_MODELS:-$HOME/.cache/burin-models}/whisper-base
sound=$SHARED/data/sound
need "whisper-base" "$model" "$sound"
check "whisper-base: builds" "$BURIN" build "$model" --mcpu=native -o "$WORK/whisper"
while IFS='|' read -r file text; do
    echo "$text" > "$WORK/expected"
    "$WORK/whisper" "$sound/$file" > "$WORK/got" 2>&1 < /dev/null
    same "whisper-base: $file" "$WORK/expected" "$WORK/got"
done << 'E2'
mono16k.wav|The compiler reads the model and writes a program.
stereo44k24.wav|Please bring me seven red apples and two
alaw16k.wav|On Tuesday, the train to London leaves at half past nine.
float48k.wav|nothing beside it, nothing headed
mono22k.flac|How much memory does this little machine have?
u8_8k.wav|One Tuesday the train to London leaves at half past nine.
E2
"$WORK/whisper" --srt "$sound/mono16k.wav" > "$WORK/got"
printf '1\n00:00:00,000 --> 00:00:02,800\nThe compiler reads the model and writes a program.\n\n' > "$WORK/expected"
same "whisper-base: SRT" "$WORK/expected" "$WORK/got"
cat > "$WORK/expected" << 'E2'
start,end,text
0.00,0.12,"The"
0.12,0.44,"compiler"
0.44,0.92,"reads"
0.92,1.18,"the"
1.18,1.44,"model"
1.44,1.72,"and"
1.72,1.92,"writes"
1.92,2.12,"a"
2.12,2.78,"program."
E2
for beams in 1 3; do
    "$WORK/whisper" --csv --word-timestamps --beams $beams "$sound/mono16k.wav" > "$WORK/got"
    same "whisper-base: times of words, $beams beams" "$WORK/expected" "$WORK/got"
done
{ head -c 40 "$sound/mono16k.wav" && printf '\000\000\017\000' && head -c 983040 /dev/zero; } > "$WORK/silence.wav"
echo > "$WORK/expected"
"$WORK/whisper" "$WORK/silence.wav" > "$WORK/got"
same "whisper-base: silence has no text" "$WORK/expected" "$WORK/got"
"$BUILD/tools/log_mel" "$sound/mono16k.wav" "$sound/mono16k.features.npy" > "$WORK/got"
check "whisper-base: features within 1.3e-5 of PyTorch's in f32" awk '{ exit !($1 < 1.3e-5) }' "$WORK/got"

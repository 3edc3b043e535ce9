#!/bin/sh
# Recordings to text by a Whisper of random weights whose window is one second (tests/e2e/whisper/generate.py): transformers' text,
# segments and times; other forms of the output; bad files and options.
. tests/lib.sh
tar -xJf tests/e2e/whisper/tiny.tar.xz -C "$WORK"
tiny=$WORK/tiny
check "whisper builds" "$BURIN" build "$tiny" --mcpu=native -o "$WORK/whisper"
whisper() { "$WORK/whisper" --temp 0 "$@"; }
# Segments of --json, one a line, without their text.
segments() { whisper --json "$@" | sed 's/"text": "[^"]*", //g' | grep -o '"start[^]]*]'; }

whisper "$tiny/short.wav" > "$WORK/got"
same "whisper: text, the language detected" "$tiny/text.txt" "$WORK/got"
segments "$tiny/short.wav" --language de --translate > "$WORK/got"
same "whisper: segments of a translation" "$tiny/translated.txt" "$WORK/got"
segments "$tiny/long.wav" --language en > "$WORK/got"
same "whisper: segments of a recording of several windows" "$tiny/long.txt" "$WORK/got"

# The same recording from a pipe, several at once, by the interpreter, with other threads.
whisper - < "$tiny/short.wav" > "$WORK/got"
same "whisper: a recording from a pipe" "$tiny/text.txt" "$WORK/got"
cat "$tiny/text.txt" "$tiny/text.txt" > "$WORK/expected"
whisper "$tiny/short.wav" "$tiny/short.wav" -t 2 > "$WORK/got"
same "whisper: a line for each recording" "$WORK/expected" "$WORK/got"
"$BURIN" run "$tiny" --interpret -- --temp 0 "$tiny/short.wav" > "$WORK/got" 2> "$WORK/log"
same "whisper: the interpreter writes the same text" "$tiny/text.txt" "$WORK/got"
cp -r "$tiny" "$WORK/tiny5"
{ printf '{"feature_extractor": ' && cat "$tiny/preprocessor_config.json" && echo '}'; } > "$WORK/tiny5/processor_config.json"
rm "$WORK/tiny5/preprocessor_config.json"
"$BURIN" run "$WORK/tiny5" --interpret -- --temp 0 "$tiny/short.wav" > "$WORK/got" 2> "$WORK/log"
same "whisper: a folder of transformers 5, with processor_config.json" "$tiny/text.txt" "$WORK/got"
sed 's/"alignment_heads"/"other"/' "$tiny/generation_config.json" > "$WORK/tiny5/generation_config.json"
says "whisper: times of words without heads for them" 1 "had no alignment_heads" \
    "$BURIN" run "$WORK/tiny5" --interpret -- --csv --word-timestamps "$tiny/short.wav"
"$WORK/whisper" "$tiny/long.wav" > "$WORK/expected"
"$WORK/whisper" "$tiny/long.wav" -t 2 > "$WORK/got"
same "whisper: sampling after an unlikely text draws the same numbers each time" "$WORK/expected" "$WORK/got"

# Subtitles
whisper --srt "$tiny/long.wav" --language en | head -3 > "$WORK/got"
printf '1\n00:00:00,220 --> 00:00:00,380\nx\n' > "$WORK/expected"
same "whisper: SRT" "$WORK/expected" "$WORK/got"
whisper --vtt "$tiny/long.wav" --language en | head -4 > "$WORK/got"
printf 'WEBVTT\n\n00:00:00.220 --> 00:00:00.380\nx\n' > "$WORK/expected"
same "whisper: WebVTT" "$WORK/expected" "$WORK/got"

"$WORK/whisper" --temp 0 --csv "$tiny/long.wav" --language en | head -2 > "$WORK/got"
printf 'start,end,text\n0.22,0.38,"x"\n' > "$WORK/expected"
same "whisper: CSV" "$WORK/expected" "$WORK/got"

# Words, and the likeliest of several texts
whisper --language de --translate --csv --word-timestamps "$tiny/short.wav" > "$WORK/got"
same "whisper: times of words" "$tiny/words.txt" "$WORK/got"
segments "$tiny/long.wav" --language en --beams 3 > "$WORK/got"
same "whisper: --beams" "$tiny/beams.txt" "$WORK/got"
whisper --language de --beams 4 --csv --word-timestamps "$tiny/long.wav" > "$WORK/got"
same "whisper: times of words of the likeliest text" "$tiny/beam_words.txt" "$WORK/got"
whisper --language de --beams 4 --csv --word-timestamps "$tiny/long.wav" -t 2 --chunk 3 > "$WORK/got"
same "whisper: the same by two threads, three rows at once" "$tiny/beam_words.txt" "$WORK/got"
"$BURIN" run "$tiny" --interpret -- --temp 0 --language de --translate --csv --word-timestamps "$tiny/short.wav" > "$WORK/got" 2> "$WORK/log"
same "whisper: the same by the interpreter" "$tiny/words.txt" "$WORK/got"
whisper --language de --translate --json --word-timestamps "$tiny/short.wav" | grep -o '"words".*' > "$WORK/got"
echo '"words": [{"word": "q", "start": 0.00, "end": 0.00}, {"word": "mx", "start": 0.70, "end": 0.76}]}' > "$WORK/expected"
same "whisper: words in JSON" "$WORK/expected" "$WORK/got"

# English-only, with the shape of large-v3-turbo: 128 mel bands, a decoder of fewer layers and more heads than the encoder has
check "whisper: an English-only model builds" "$BURIN" build "$tiny/english" --mcpu=native -o "$WORK/english"
for beams in 1 2; do
    "$WORK/english" --temp 0 --json --beams $beams "$tiny/long.wav" | sed 's/"text": "[^"]*", //g' | grep -o '"start[^]]*]' > "$WORK/got$beams"
done
same "whisper: an English-only model" "$tiny/english/long.txt" "$WORK/got1"
same "whisper: an English-only model with --beams" "$tiny/english/beams.txt" "$WORK/got2"
says "whisper: the language of an English-only model" 1 "this model knows one language" "$WORK/english" --language en "$tiny/long.wav"

# Silence: none is written; a pause before a recording moves its times alone, in whole frames.
little() { printf '%b' "$(printf '\\0%o\\0%o\\0%o\\0%o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)))"; }
short_of() { printf '%b' "$(printf '\\0%o\\0%o' $(($1 & 255)) $(($1 >> 8)))"; }
# wav FORMAT CHANNELS BITS RATE BYTES: a header
wav() {
    _frame=$(($2 * $3 / 8))
    printf 'RIFF' && little 4294967295 && printf 'WAVEfmt ' && little 16 && short_of "$1" && short_of "$2" && little "$4"
    little $(($4 * _frame)) && short_of $((_frame & 65535)) && short_of "$3" && printf 'data' && little "$5"
}
head -c 160000 /dev/zero > "$WORK/zeros"
{ wav 1 1 16 16000 160000 && cat "$WORK/zeros"; } > "$WORK/silence.wav"
echo > "$WORK/expected"
whisper --vad "$WORK/silence.wav" > "$WORK/got"
same "whisper: --vad: nothing in silence" "$WORK/expected" "$WORK/got"
whisper --language en --vad "$tiny/long.wav" > "$WORK/expected"
whisper --language en "$tiny/long.wav" > "$WORK/got"
same "whisper: --vad: without silence all is heard" "$WORK/expected" "$WORK/got"
whisper --language en --csv "$tiny/long.wav" > "$WORK/expected"
whisper --language en --csv --condition "$tiny/long.wav" > "$WORK/got"
check "whisper: --condition changes windows after the first" sh -c "! cmp -s '$WORK/expected' '$WORK/got'"
head -2 "$WORK/expected" > "$WORK/first"
head -2 "$WORK/got" > "$WORK/got_first"
same "whisper: --condition leaves the first window" "$WORK/first" "$WORK/got_first"

# refused TEXT ARGUMENT...: status 1 or 2, nothing on standard output, TEXT in the message
refused() {
    _text=$1
    shift
    "$WORK/whisper" "$@" > "$WORK/out" 2> "$WORK/log" < /dev/null
    _status=$?
    check "whisper $*: refused" test $_status -eq 1 -o $_status -eq 2
    check "whisper $*: nothing is printed" test ! -s "$WORK/out"
    check "whisper $*: $_text" grep -qF -- "$_text" "$WORK/log"
}
head -c 5000 "$tiny/short.wav" > "$WORK/cut.wav"
refused "it is cut" "$WORK/cut.wav"
refused "does not begin as a WAV file does" "$tiny/config.json"
refused "No such file" "$WORK/none.wav"
refused "does not know it" --language xx "$tiny/short.wav"
refused "one recording" --srt "$tiny/short.wav" "$tiny/short.wav"
refused "give one of --srt" --srt --vtt "$tiny/short.wav"
refused "nothing is given to transcribe"
refused "that is not for recordings" --top-k 2 "$tiny/short.wav"
refused "--word-timestamps needs a form" --word-timestamps "$tiny/short.wav"
refused "--beams needs --temp 0" --beams 2 --temp 0.5 "$tiny/short.wav"

# Files that lie: the sizes, channels and samples of a header; names that are not those of their content.
{ wav 1 0 16 16000 8 && printf 12345678; } > "$WORK/channels.wav"
refused "it has 0 channels" "$WORK/channels.wav"
{ wav 1 65535 16 16000 8 && printf 12345678; } > "$WORK/channels.wav"
refused "it has 65535 channels" "$WORK/channels.wav"
{ wav 1 1 16 16000 1900000000 && printf 12345678; } > "$WORK/lie.wav"
refused "1900000000 bytes of samples, the file has 8" "$WORK/lie.wav"
{ wav 3 1 32 16000 8 && printf '\000\000\000\000\000\000\300\177'; } > "$WORK/nan.wav"
refused "sample 1 is no finite number" "$WORK/nan.wav"
{ wav 3 2 64 16000 16 && printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\360\377'; } > "$WORK/infinite.wav"
refused "sample 0 is no finite number" "$WORK/infinite.wav"
echo "a text" > "$WORK/text.wav"
refused "does not begin as a WAV file does" "$WORK/text.wav"
refused "it is empty" /dev/null
refused "irectory" "$WORK"
cp "$tiny/short.wav" "$WORK/short.mp3"
whisper "$WORK/short.mp3" > "$WORK/got"
same "whisper: the name of a file does not matter" "$tiny/text.txt" "$WORK/got"
{ head -c 4 "$tiny/short.wav" && little 4294967295 && tail -c +9 "$tiny/short.wav" | head -c 32 && little 4294967295 && tail -c +45 "$tiny/short.wav"; } > "$WORK/4gb.wav"
whisper "$WORK/4gb.wav" > "$WORK/got"
same "whisper: 4 GB in a header are all that follows" "$tiny/text.txt" "$WORK/got"

# Silence has no text in any window, also without --vad. Noise has at most 40 tokens in each window of a second.
{ wav 1 1 8 1000 1200000 && head -c 1200000 /dev/zero | tr '\000' '\200'; } > "$WORK/silence20.wav"
echo > "$WORK/expected"
whisper "$WORK/silence20.wav" > "$WORK/got"
same "whisper: 20 minutes of silence" "$WORK/expected" "$WORK/got"
{ wav 1 1 8 4000 16000 && head -c 16000 tests/e2e/whisper/tiny.tar.xz; } > "$WORK/noise.wav"
"$WORK/whisper" "$WORK/noise.wav" > "$WORK/got"
check "whisper: noise: a bounded text" test $? -eq 0 -a "$(wc -c < "$WORK/got")" -le 161

# FLAC, by libFLAC: the recording of short.wav. A file that is cut or damaged is refused.
says "whisper: --with=sounds: another machine" 2 "--with=sounds: programs for aarch64-linux-gnu are built without" \
    "$BURIN" build "$tiny" --with=sounds --target=aarch64-linux-gnu -o "$WORK/x"
says "whisper: --with=sounds: no recordings" 1 "--with=sounds: the program takes no recordings" "$BURIN" build examples/austen --with=sounds -o "$WORK/x"
flac=tests/e2e/whisper/short.flac
if ! "$WORK/whisper" --info | grep -qx 'sounds    FLAC (libFLAC), WAV'; then
    refused "this program was built without libFLAC" "$flac"
    skip "whisper: FLAC" "libFLAC is not here"
    exit 0
fi
check "whisper: --with=sounds" "$BURIN" build "$tiny" --with=sounds --mcpu=native -o "$WORK/with"
whisper "$flac" > "$WORK/got"
same "whisper: FLAC" "$tiny/text.txt" "$WORK/got"
for cc in gcc clang-19; do
    check "codecs/flac.c: no warnings of $cc" $cc -std=gnu17 -D_GNU_SOURCE -DBURIN_FLAC=1 -O1 -Wall -Wextra -Werror -Iruntime -c runtime/codecs/flac.c -o "$WORK/object"
done
for bytes in 4 30 60 2000 4590; do
    head -c $bytes $flac > "$WORK/cut.flac"
    refused "expected a WAV or FLAC recording" "$WORK/cut.flac"
done
{ head -c 2000 $flac && printf 'xxxxxxxx' && tail -c +2009 $flac; } > "$WORK/damaged.flac"
refused "libFLAC: " "$WORK/damaged.flac"
{ head -c 30 $flac && printf 'xxxx' && tail -c +35 $flac; } > "$WORK/sum.flac"
refused "MD5 differs" "$WORK/sum.flac"
{ head -c 21 $flac && printf '\077\377\377\377\377' && tail -c +27 $flac; } > "$WORK/lie.flac"
refused "it is cut" "$WORK/lie.flac"

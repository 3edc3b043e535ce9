#!/bin/sh
# Recordings and speech over HTTP: forms of a transcription, requests beside others as alone, samples of a voice, what is refused.
. tests/lib.sh
. tests/lib_server.sh
unsanitized "sounds: replies"
[ -e /usr/include/event2/http.h ] || { skip "sounds: with libevent" "it is not here" && exit 0; }
tar -xJf tests/e2e/whisper/tiny.tar.xz -C "$WORK" && tiny=$WORK/tiny
check "sounds: a program of ears" "$BURIN" build "$tiny" --mcpu=native --with=server -o "$WORK/ears"

# form PATH FILE NAME=VALUE...: a request of multipart/form-data to $WORK/request
form() {
    _path=$1 _file=$2
    shift 2
    {
        for _field; do printf -- '--edge\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' "${_field%%=*}" "${_field#*=}"; done
        [ -z "$_file" ] || { printf -- '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n' && cat "$_file" && printf '\r\n'; }
        printf -- '--edge--\r\n'
    } > "$WORK/form"
    { printf 'POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=edge\r\nContent-Length: %d\r\n\r\n' "$_path" "$(wc -c < "$WORK/form")" && cat "$WORK/form"; } > "$WORK/request"
}
# heard FILE NAME=VALUE...: the body of the reply to $WORK/got, its head to $WORK/head
heard() {
    form /v1/audio/transcriptions "$@"
    "$BUILD/tools/http_client" "$port" raw 20 < "$WORK/request" > "$WORK/reply"
    sed '/^\r$/,$d' "$WORK/reply" > "$WORK/head"
    sed '1,/^\r$/d' "$WORK/reply" > "$WORK/got"
}
refused() {
    _what=$1
    shift
    heard "$@"
    check "sounds: refused: $_what" grep -q "$_what" "$WORK/got"
    check "sounds: refused with status 400" grep -q '^HTTP/1.1 400 ' "$WORK/head"
}

serving "$WORK/ears" -t 1 || { cat "$WORK/served"; exit 1; }
ears() { "$WORK/ears" --language en "$@"; }
heard "$tiny/long.wav" language=en model=x
ears "$tiny/long.wav" > "$WORK/text"
printf '{"text": "%s", "usage": {"type": "duration", "seconds": 3}}' "$(cat "$WORK/text")" > "$WORK/expected"
same "sounds: json" "$WORK/expected" "$WORK/got"
heard "$tiny/long.wav" language=en response_format=text
same "sounds: text" "$WORK/text" "$WORK/got"
for as in srt vtt; do
    heard "$tiny/long.wav" language=en response_format=$as
    ears --$as "$tiny/long.wav" > "$WORK/expected"
    same "sounds: $as" "$WORK/expected" "$WORK/got"
done
heard "$tiny/long.wav" language=en response_format=verbose_json "timestamp_granularities[]=segment"
ears --json "$tiny/long.wav" | grep -o '"segments.*]' > "$WORK/expected"
grep -o '"segments.*]' "$WORK/got" > "$WORK/segments"
same "sounds: verbose_json: segments" "$WORK/expected" "$WORK/segments"
check "sounds: verbose_json" grep -qE '^[{]"task": "transcribe", "duration": 2.600, "language": "en", "text": "[a-z]*", "segments": \[[{]"id": 0, "seek": 0, "start": 0.22, "end": 0.38, "text": "x", "tokens": \[[0-9, ]*\], "temperature": 0.0, "avg_logprob": -[0-9.]*, "compression_ratio": [0-9.]*, "no_speech_prob": [0-9.e-]*}' "$WORK/got"
heard "$tiny/short.wav" stream=true
check "sounds: a stream" sh -c "grep -q '^data: {\"type\": \"transcript.text.delta\", \"delta\": \"$("$WORK/ears" "$tiny/short.wav")\"}' '$WORK/got' && grep -q 'transcript.text.done' '$WORK/got'"
form /v1/audio/translations "$tiny/short.wav" language=de
"$BUILD/tools/http_client" "$port" raw 20 < "$WORK/request" > "$WORK/reply"
check "sounds: a translation" grep -q "{\"text\": \"$("$WORK/ears" "$tiny/short.wav" --language de --translate)\"" "$WORK/reply"

# several at once
for i in 1 2 3 4 5 6; do
    form /v1/audio/transcriptions "$tiny/long.wav" language=en response_format=srt temperature=0.5 seed=$((i % 2))
    mv "$WORK/request" "$WORK/request$i" # the client reads it while the next one is written
    "$BUILD/tools/http_client" "$port" raw 20 < "$WORK/request$i" | sed '1,/^\r$/d' > "$WORK/beside$i" &
    eval "client$i=$!"
done
for i in 1 2 3 4 5 6; do eval "wait \$client$i"; done
for i in 3 4 5 6; do same "sounds: recording $i beside others" "$WORK/beside$((2 - i % 2))" "$WORK/beside$i"; done
ears --srt --temp 0.5 --seed 1 "$tiny/long.wav" > "$WORK/expected"
same "sounds: as by the command line" "$WORK/expected" "$WORK/beside1"

refused 'the part .*file.* is missing' "" model=x
refused "does not begin as a WAV file does" tests/lib.sh
refused "this model does not know xx" "$tiny/short.wav" language=xx
refused "must be json, text, srt, vtt or verbose_json" "$tiny/short.wav" response_format=x
refused "must be a number from 0 to 100" "$tiny/short.wav" temperature=hot
refused "words get no times" "$tiny/short.wav" "timestamp_granularities[]=word"
reply "sounds: JSON" '^415 .*must be multipart/form-data' POST /v1/audio/transcriptions '{}'
# broken NAME HEADER BODY: a broken form
broken() {
    { printf 'POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data%s\r\nContent-Length: %d\r\n\r\n' "$2" "$(printf -- "$3" | wc -c)" && printf -- "$3"; } > "$WORK/request"
    "$BUILD/tools/http_client" "$port" raw 5 < "$WORK/request" > "$WORK/reply"
    check "sounds: a form $1" grep -q 'the body is no multipart/form-data' "$WORK/reply"
}
broken "without a boundary" "" "x"
broken "of another boundary" "; boundary=a" "--b\r\n"
broken "without an end" '; boundary="a"' '--a\r\nContent-Disposition: form-data; name="file"\r\n\r\nRIFF'
broken "without a name" "; boundary=a" '--a\r\nContent-Type: x\r\n\r\nRIFF\r\n--a--'
broken "of bytes" "; boundary=a" '--a\r\nContent-Disposition: form-data; name="language"\r\n\r\n\377\r\n--a--'
broken "of a boundary alone" "; boundary=a" '--a'
stopped
check "sounds: ears end" test $? = 0

# ---- listeners: texts without times ----
tar -xJf tests/e2e/listen/tiny.tar.xz -C "$WORK"
check "sounds: a listener" "$BURIN" build "$tiny/ctc/model.onnx" --mcpu=native --with=server -o "$WORK/ctc"
serving "$WORK/ctc" -t 1
heard "$tiny/short.wav" response_format=text
same "sounds: a listener's text" "$tiny/text.txt" "$WORK/got"
refused "gives no times" "$tiny/short.wav" response_format=srt
stopped
says "sounds: classes of recordings" 1 "gives classes of recordings, no texts" sh -c "'$BURIN' build '$tiny/classes' --mcpu=native --with=server -o '$WORK/c' > /dev/null && '$WORK/c' --serve --port 0"

# ---- a voice ----
tar -xJf tests/e2e/voice/tiny.tar.xz -C "$WORK"
sed 's/"phoneme_type": "espeak"/"phoneme_type": "text"/' "$tiny/voice.onnx.json" > "$WORK/json" && cp "$WORK/json" "$tiny/voice.onnx.json"
check "sounds: a voice" "$BURIN" build "$tiny/voice.onnx" --mcpu=native --with=server -o "$WORK/voice"
serving "$WORK/voice" -t 1
# said BODY: the body of the reply to $WORK/got
said() {
    { printf 'POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "${#1}" "$1"; } > "$WORK/request"
    "$BUILD/tools/http_client" "$port" raw 20 < "$WORK/request" > "$WORK/reply"
    awk -v RS='\r\n\r\n' 'NR == 1 { print length($0) + 4; exit }' "$WORK/reply" > "$WORK/length"
    tail -c "+$(($(cat "$WORK/length") + 1))" "$WORK/reply" > "$WORK/got"
}
said '{"input": "AB, C. AB, C.", "voice": "alloy", "seed": 3, "speed": 0.5}'
"$WORK/voice" "AB, C. AB, C." --seed 3 --speed 0.5 -o "$WORK/expected"
same "sounds: a WAV file" "$WORK/expected" "$WORK/got"
check "sounds: its type" grep -qa '^Content-Type: audio/wav' "$WORK/reply"
said '{"input": "AB, C.", "voice": "alloy", "response_format": "pcm"}'
check "sounds: samples of 24 kHz" grep -qa '^Content-Type: audio/pcm' "$WORK/reply"
said '{"input": "AB, C.", "voice": "alloy", "stream_format": "sse"}'
check "sounds: events" sh -c "grep -q '\"type\": \"speech.audio.delta\", \"audio\": \"' '$WORK/got' && grep -q 'speech.audio.done' '$WORK/got'"
reply "sounds: no text" '^400 .*must be a text' POST /v1/audio/speech '{}'
reply "sounds: mp3" '^400 .*must be wav or pcm' POST /v1/audio/speech '{"input": "a", "response_format": "mp3"}'
reply "sounds: a speed" '^400 .*"param": "speed"' POST /v1/audio/speech '{"input": "a", "speed": 0}'
reply "sounds: instructions" '^400 .*"param": "instructions"' POST /v1/audio/speech '{"input": "a", "instructions": "sadly"}'
reply "sounds: a voice's model" '^200 .*"owned_by": "burin"' GET /v1/models
stopped
check "sounds: the voice ends" test $? = 0

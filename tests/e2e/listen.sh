#!/bin/sh
# Recordings to texts and to classes by wav2vec2 and HuBERT of random weights, as ONNX files with their settings beside them
# (tests/e2e/listen/generate.py): transformers' text and scores; long recordings, options, settings that are not supported.
. tests/lib.sh
tar -xJf tests/e2e/listen/tiny.tar.xz -C "$WORK"
tiny=$WORK/tiny
# near EXPECTED GOT: the same labels, scores within 3e-6
near() { tr '\t' '\n' < "$1" > "$WORK/a" && tr '\t' '\n' < "$2" | paste "$WORK/a" - |
    awk -F '\t' '{ d = $1 - $2; if ($1 ~ /^0/ ? d > 3e-6 || d < -3e-6 : $1 != $2) bad = 1 } END { exit bad || NR != 6 }'; }
check "listen: builds" "$BURIN" build "$tiny/ctc/model.onnx" -o "$WORK/ctc"
check "listen: builds from a folder" "$BURIN" build "$tiny/classes" --mcpu=native -o "$WORK/classes"
"$WORK/ctc" "$tiny/short.wav" > "$WORK/got"
same "listen: text" "$tiny/text.txt" "$WORK/got"
"$WORK/ctc" - < "$tiny/short.wav" > "$WORK/got"
same "listen: text of a pipe" "$tiny/text.txt" "$WORK/got"
"$WORK/ctc" "$tiny/short.wav" --format json | sed 's/.*"text"/"text"/' > "$WORK/got"
printf '"text": "%s"}\n' "$(cat "$tiny/text.txt")" > "$WORK/expected"
same "listen: JSON" "$WORK/expected" "$WORK/got"
hash() { "$WORK/ctc" --random --dim sequence_length=4000 --hash "$@"; }
hash -t 1 > "$WORK/expected"
hash -t 2 --cpu x86-64-v3 > "$WORK/got"
same "listen: the same bits with other threads on another CPU" "$WORK/expected" "$WORK/got"
"$WORK/classes" "$tiny/short.wav" --top-k 3 > "$WORK/got"
check "listen: transformers' scores" near "$tiny/scores.txt" "$WORK/got"

# Hugging Face folders: samples, mel bands of Parakeet with pieces of words, squares of AST
tar -xJf tests/e2e/listen/folders.tar.xz -C "$WORK"
folders=$WORK/folders
for name in wave parakeet ast; do
    check "listen: builds the folder $name" "$BURIN" build "$folders/$name" --mcpu=native -o "$WORK/$name"
    "$WORK/$name" "$tiny/short.wav" --top-k 3 > "$WORK/$name.got" 2> "$WORK/log" || "$WORK/$name" "$tiny/short.wav" > "$WORK/$name.got"
done
same "listen: text of a folder" "$folders/wave.txt" "$WORK/wave.got"
same "listen: text of Parakeet" "$folders/parakeet.txt" "$WORK/parakeet.got"
check "listen: AST's scores" near "$folders/ast.txt" "$WORK/ast.got"
sed 's/"Wav2Vec2FeatureExtractor"/"OtherFeatureExtractor"/' -i "$folders/wave/processor_config.json"
says "listen: an unknown extractor leaves tensors" 0 "input_values" "$BURIN" run "$folders/wave" --mcpu=native -- --info

# A recording longer than one run is cut at silence: two copies of a recording with a pause between them are two texts.
"$BURIN" build "$tiny/ctc" --max=sequence_length=16000 --mcpu=native -o "$WORK/short" 2> "$WORK/log"
{ tail -c +45 "$tiny/short.wav" && head -c 6400 /dev/zero && tail -c +45 "$tiny/short.wav"; } > "$WORK/samples"
bytes=$(wc -c < "$WORK/samples")
little() { printf '%b' "$(printf '\\0%o\\0%o\\0%o\\0%o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)))"; }
{ head -c 4 "$tiny/short.wav" && little $((bytes + 36)) && tail -c +9 "$tiny/short.wav" | head -c 32 && little "$bytes" && cat "$WORK/samples"; } > "$WORK/long.wav"
"$WORK/ctc" "$WORK/long.wav" > "$WORK/whole"
check "listen: a long recording in parts" "$WORK/short" "$WORK/long.wav"
check "listen: its text is not empty" test "$("$WORK/short" "$WORK/long.wav" | wc -c)" -gt 4
says "listen: classes of a long recording" 0 "only its first" sh -c "'$BURIN' build '$tiny/classes' --max=sequence_length=8000 --mcpu=native -o '$WORK/c' && '$WORK/c' '$tiny/short.wav'"

says "listen: no recording" 1 "which recording?" "$WORK/ctc"
says "listen: no file" 1 "No such file" "$WORK/ctc" "$WORK/none.wav"
says "listen: a text" 1 "does not begin as a WAV file does" "$WORK/ctc" "$tiny/ctc/vocab.json"
{ head -c 40 "$tiny/short.wav" && little 200 && head -c 244 "$tiny/short.wav" | tail -c 200; } > "$WORK/few.wav"
says "listen: too short" 1 "it has 100 samples, at least" "$WORK/ctc" "$WORK/few.wav"
says "listen: too short for a folder's program" 1 "it has 100 samples, at least" "$WORK/wave" "$WORK/few.wav"
says "listen: too short for frames" 1 "it has 100 samples, at least 160" "$WORK/parakeet" "$WORK/few.wav"
says "listen: --format npy" 2 "expected text or json" "$WORK/ctc" "$tiny/short.wav" --format npy

# variant NAME TEXT FILE SED: a setting that is not supported is named, and the program takes tensors
variant() {
    rm -rf "$WORK/v" && cp -r "$tiny/$1" "$WORK/v" && sed -i "$4" "$WORK/v/$3"
    says "listen: $2" 0 "$2" "$BURIN" inspect "$WORK/v/model.onnx" --stop-after=infer
}
variant ctc "has a sampling_rate that is not between" preprocessor_config.json 's/16000/16/'
variant ctc "has a feature_size other than 1: the program takes tensors (--input), not recordings" preprocessor_config.json 's/"feature_size": 1/"feature_size": 2/'
variant ctc "has a padding_value other than 0" preprocessor_config.json 's/"padding_value": 0.0/"padding_value": 1.0/'
variant ctc "has no token for CTC's blank" vocab.json 's/<pad>/pad/'
variant ctc "has an id that is no column" vocab.json 's/": 5/": 55/'
variant classes "has no id2label for each class" config.json 's/"2": "music"/"3": "music"/'

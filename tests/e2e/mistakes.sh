#!/bin/sh
# Typical mistakes of a first hour, a row each: program, exit status, its words, and a part of the output.
. tests/lib.sh
need "mistakes" examples/austen/model.safetensors
unsanitized mistakes
here=$PWD
mkdir "$WORK/model" "$WORK/lora" "$WORK/pickle"
for file in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json; do
    ln -s "$here/examples/austen/$file" "$WORK/model/$file"
done
printf '%s' '{%- for m in messages %}{{- bos_token + m.role[:0] + m.content + eos_token }}{%- endfor %}{{ bos_token }}and' > "$WORK/model/chat_template.jinja"
"$BURIN" build "$WORK/model" --mcpu=native --line-editor=none -o "$WORK/story" > "$WORK/log" 2>&1
"$BURIN" build examples/austen --mcpu=native -o "$WORK/plain" >> "$WORK/log" 2>&1
"$BURIN" build examples/digits/digits.onnx --mcpu=native -o "$WORK/net" >> "$WORK/log" 2>&1
echo '{}' > "$WORK/lora/adapter_config.json"
echo '[{"content": "x"}]' > "$WORK/m.json" && echo '[{"role": "user"' > "$WORK/cut.json"
printf '\377\330\377\340 JFIF ' > "$WORK/cat.jpg" && printf 'RIFF    WAVEfmt ' > "$WORK/a.wav" && printf 'PK\003\004 npz   ' > "$WORK/a.npz"
printf '\223NUMPY\001\000\106\000{%-69s\n' "'descr': '|O', 'fortran_order': False, 'shape': (1,), }" > "$WORK/object.npy"
printf '\223NUMPY\001\000\106\000{%-69s\n' "'descr': '|i1', 'fortran_order': True, 'shape': (1, 1, 8, 8), }" > "$WORK/fortran.npy"
head -c 64 /dev/zero >> "$WORK/fortran.npy" && mkdir "$WORK/lora_less"
mkdir "$WORK/no_tokenizer" && cp examples/austen/config.json "$WORK/no_tokenizer" && ln -s "$here/examples/austen/model.safetensors" "$WORK/no_tokenizer"
sed 's/"vocab": {/"vocab": {"zzzz": 5000, /' examples/austen/tokenizer.json > "$WORK/large.json"
printf 'model m\nimport embeding\ngraph decode(tokens: [R]) -> [R] { return tokens }\n' > "$WORK/import.burin"
cp "$BURIN" "$WORK/burin.name" && burin() { (cd "$WORK" && BURIN_HOME=$here "$here/${BURIN#"$here"/}" "$@"); }
case $BURIN in /*) burin() { (cd "$WORK" && "$BURIN" "$@"); } ;; esac
story() { (cd "$WORK" && ./story "$@"); }
bare() { (cd "$WORK" && ./x "$@"); }
plain() { (cd "$WORK" && ./plain "$@"); }
net() { (cd "$WORK" && ./net "$@"); }
A=$here/examples/austen D=$here/examples/digits/digits.onnx IMAGES=$here/examples/digits/images.npy
while IFS='|' read -r who status words expected; do
    eval "$who $words" > "$WORK/got" 2>&1 < /dev/null
    got=$?
    if [ $got = "$status" ] && grep -qF -- "$expected" "$WORK/got"; then ok "mistakes: $who $words"; else
        not_ok "mistakes: $who $words: status $got, expected $status and: $expected"
        head -n 5 "$WORK/got" | sed 's/^/# /'
    fi
done << 'END'
burin|2|biuld $A|did you mean `burin build`?
burin|2|$A|`burin build
burin|2|build|burin build needs a MODEL
burin|1|build nowhere/model.gguf -o x|there is no nowhere/model.gguf
burin|1|build HuggingFaceTB/SmolLM2-135M|huggingface-cli download HuggingFaceTB/SmolLM2-135M --local-dir SmolLM2-135M, then burin build SmolLM2-135M
burin|2|build $A --quantize q4_0|did you mean --quant?
burin|2|build $A --quant q4|4 bits: q4_k_m (best), q4_0 (smallest, fastest)
burin|2|build $A --quant int8 -o x|8 bits: q8_0
burin|2|build $A --quant q4_kk -o x|did you mean q4_k?
burin|1|build $A --quant q4_k_m,hed=q6_k -o x|no matrix is called hed
burin|1|build $A --quant q4_k_m,hed=q6_k -o x|did you mean head?
burin|2|build $A --kv q4_0 -o x|--kv=q4_0
burin|2|build $A --target=raspberrypi -o x|hint:
burin|2|build $A --target=wasm32 -o x|--target=wasm32: not a target
burin|2|build $A --mcpu=cortex-a76 -o x|add --target=aarch64-linux-gnu
burin|2|build $A --mcpu=cortex-a999 -o x|CPUs of ARM need --target=aarch64-linux-gnu
burin|2|build $A --mcpu=skylak -o x|did you mean skylake?
burin|0|build $A --ctx 100000 --emit=ir|made for 512 positions
burin|1|build $A --max-ram 2M -o x|bytes), --max-ram allows 2.1 MB
burin|1|build $A -o nowhere/x|there is no folder nowhere/
burin|1|build $A -o model|it is a folder
burin|2|build $A -o x.onnx|burin reads models and writes programs
burin|2|build $A -o x.exe|--target=x86_64-windows-gnu
burin|1|build lora -o x|is an adapter (LoRA)
burin|0|build no_tokenizer --mcpu=native -o x|--tokenizer=FILE
burin|2|build $D --bind=foo=tokens -o x|there is no input foo
burin|2|build $D --bind=imag=tokens -o x|did you mean image?
burin|1|build $D --dim foo=3 -o x|those that are open: batch
burin|2|build $A --temp 0.5 -o x|one of the program's
burin|2|build $A --versbose -o x|did you mean --verbose?
burin|1|build import.burin --weights $A -o x|embedding
burin|2|run $A --kvv f32|
burin|2|build $A $A|one MODEL at a time
burin|2|build $A --ctx many|expected a whole number
burin|2|-o x build $A|comes before the command
burin|1|tokenize "It was" $A|hint: the model comes first
burin|1|explain attention $A|the model comes first
burin|2|build $A --chat -o x|it is one of the program's
burin|2|build $A --max-ram 64MB -o x|did you mean 64M?
burin|2|build $A --max-ram 2gib -o x|did you mean 2G?
burin|2|build $A --ctx 4k -o x|did you mean 4096?
burin|2|build $A --quant nf4 -o x|4 bits: q4_k_m
burin|2|build $A --quant fp8 -o x|8 bits: q8_0
burin|2|build $A --quant awq -o x|GPTQ and AWQ are read
burin|2|build $A --mcpu avx2 -o x|did you mean x86-64-v3?
burin|2|build $A --mcpu rpi5 -o x|--target=aarch64-linux-gnu --mcpu=cortex-a76
burin|2|build $A --with=server,mpi -o x|expected one of
burin|1|build $A --lora nowhere -o x|there is no such folder
burin|2|report $A -o x.pdf|the page is HTML
burin|1|report $A -o nowhere/x.html|cannot write nowhere/x.html
burin|1|build lora_less -o x|download every file
burin|2|help format|did you mean `burin help formats`?
story|2|--temprature 0.5 hi|did you mean --temperature?
story|2|-m model.gguf hi|the program has its model inside
story|2|-ngl 99 hi|computes on the CPU alone
story|2|--serve|--with=server
story|2|-fa hi|attention is always fused
story|2|--quantize q4_0|burin build --quant
story|2|Once upon a time|story "Once upon a time"
story|0|-p hi -c 100 --n-predict 2 --temp 0|
story|0|-p hi -sys "Be brief." --predict 2 --temp 0|
story|0|hi --max-new-tokens 2 --repetition-penalty 1.1 --temp 0|
story|2|hi -n abc|not a number
story|2|hi --temp hot|not a number
story|2|hi --top-p 3|expected a number from 0 to 1
story|2|hi -t 0|expected a number from 1
story|2|hi --seed x|not a whole number
story|2|hi --topk 3|did you mean --top-k?
story|1|hi --ctx 100000|burin build --ctx 100000
story|1|--messages m.json|m.json: message 1 has no "role"
story|1|--messages cut.json|expected a comma or }
story|1|-f nowhere.txt|cannot read nowhere.txt
story|1|hi --grammar 'root = "a"'|this is no file and no grammar
story|1|hi --json-schema '{"type": "strin"}'|strin
story|2|hi --system x --raw|--system is for a question or a chat
story|1|hi --cpu pentium|this program carries code for
plain|1|--chat|this model has no chat template
plain|1|--system x hi|--system: this model has no chat template
net|2|cat.jpg|--input NAME=F.npy
net|1|--input image=cat.jpg|it is an image (JPEG)
net|1|--input image=a.wav|it is a recording (WAV)
net|1|--input image=a.npz|is no .npz file that can be read
net|1|--input imagee=a.npz|image
net|1|--input image=object.npy|has elements of the type |O
net|1|--input image=object.npy|hint: integers, floats and bool
net|0|--input image=fortran.npy --hash|
net|1|--input $IMAGES --output nowhere/x.npz|cannot write nowhere/x.npz
net|0|--input $IMAGES --output x.npz -v|one run
net|0|--input $IMAGES --output y.npy -v|one run
net|1|--input y.npy|y.npy has the shape
net|1|--input x.npz|its array logits is no input
net|2|-i x.npy|--input NAME=F.npy
net|2|--json|it is for programs of
net|2|--batch 4|--help lists the options
net|2|--prompt hi|unknown option --prompt
story|1|hi --profile=nowhere/x.json|--profile=nowhere/x.json: No such file or directory
story|1|hi --attention nowhere/x.npy|--attention nowhere/x.npy: No such file or directory
story|0|hi --n 2 --temp 0|
story|0|hi --max_new_tokens 2 --repetition_penalty 1.1 --top_p 0.9 --temp 0.1|
story|2|hi -n2|hint: -n 2
story|2|hi -n 1k|hint: -n 1024
story|2|hi --temp 0,8|hint: --temp 0.8
story|2|hi --top-p 90%|hint: --top-p 0.9
story|2|hi --length 3|-n N generates N tokens
story|2|hi --batch 4|--chunk N
story|2|hi --trace|--help lists the options
story|2|hi -o out.txt|> FILE
story|2|hi --embedding|--pooling=mean
story|2|hi --similarity hi|it is for programs of embeddings
story|2|hi --image cat.jpg|pictures in a chat
story|2|hi --srt|recordings to texts
story|2|hi --color|leave it out
story|2|hi --rope-freq-base 1|config.json
story|2|hi --lora x.gguf|burin build MODEL --lora DIR
story|0|-V|model 
story|1|hi --attention a.npy --layers 7|there are 6 attentions
bare|0|--help|x --tokens 1,2,3
story|1|hi --session nowhere/s|--session nowhere/s: No such file or directory
END

# Help: at most 25 lines; a group's options; all options.
check "mistakes: --help has $(story --help | wc -l) lines" test "$(story --help | wc -l)" -le 25
story --help-all > "$WORK/wide"
check "mistakes: --help-all has at most 80 columns" sh -c '! grep ".\{81\}" "$1"' - "$WORK/wide"
check "mistakes: --help GROUP" sh -c "'$WORK/story' --help samp | grep -q -- --dry-base && ! '$WORK/story' --help sampling | grep -q -- --chat"
check "mistakes: --help-all" sh -c "'$WORK/story' --help-all | grep -q -- --dry-base && '$WORK/story' --help-all | grep -q -- --chat"
says "mistakes: no such group" 0 "there is no group colours of options: Input, Output" "$WORK/story" --help colours

# Ctrl-C prints a message and removes the lock of a session.
timeout -s INT 1 "$WORK/story" --raw "It was" -n 1000000 --ignore-eos --shift --session "$WORK/s" > "$WORK/got" 2> "$WORK/err"
check "mistakes: Ctrl-C" sh -c "grep -qx 'story: interrupted' '$WORK/err' && [ ! -e '$WORK/s.lock' ]"

# With many lines the message has the number of results, and the file has this number.
yes "It was" | head -n 100000 > "$WORK/many"
timeout -s INT 1 "$WORK/story" --lines --json -f "$WORK/many" -n 3 > "$WORK/got" 2> "$WORK/err"
kept=$(sed -n 's/^story: interrupted after [0-9]* lines; the results of \([0-9]*\) are kept$/\1/p' "$WORK/err")
check "mistakes: Ctrl-C of many lines keeps ${kept:-none}" [ "${kept:-0}" -gt 0 -a "$(grep -c "}$" "$WORK/got")" -ge "${kept:-0}" ]

# Words that a program refuses are refused before it is built.
refused() {
    _name=$1 _words=$2
    shift 2
    XDG_CACHE_HOME=$WORK/empty says "mistakes: before the build: $_name" 2 "$_words" "$BURIN" "$@"
}
refused "a port" "austen: --port 99999: expected a number from 0 to 65535" serve examples/austen --port 99999
refused "a name" "did you mean --cache-dir?" serve examples/austen --cache-dri D
refused "an option" "did you mean --temp?" run examples/austen --tmp 1
refused "a value" "austen: --top-p 7: expected a number from 0 to 1" run examples/austen x --top-p 7
refused "a network" "digits: unknown option --nonesuch" run examples/digits/digits.onnx --nonesuch
check "mistakes: before the build: nothing was compiled" test -z "$(find "$WORK/empty" -name "*.o")"

# Words for formats and passes that others use
says "mistakes: --kv int8" 2 "did you mean q8_0?" "$BURIN" build examples/austen --kv int8
says "mistakes: --kv fp16" 2 "did you mean f16?" "$BURIN" build examples/austen --kv fp16
says "mistakes: --activations int8" 2 "did you mean q8?" "$BURIN" build examples/austen --activations int8
says "mistakes: --stop-after=fusion" 2 "did you mean fuse?" "$BURIN" build examples/austen --stop-after=fusion

#!/bin/sh
# Wheels in a virtual environment: pip installs one, and a program imports it; pip has no other place to look. Tags of other systems.
. tests/lib.sh
unsanitized "wheel"
python=${PYTHON:-python3}
"$python" -m venv "$WORK/venv" > "$WORK/log" 2>&1 || { skip "wheel" "$python has no module venv (apt-get install python3-venv)" && exit 0; }
"$BURIN" build examples/austen --mcpu=native -o "$WORK/story" > "$WORK/log" 2>&1
for pair in story:examples/austen digits:examples/digits/digits.onnx numbers:examples/numbers; do
    check "wheel: builds ${pair%%:*}" "$BURIN" build "${pair#*:}" --mcpu=native -o "$WORK/${pair%%:*}.whl"
done
check "wheel: pip installs three" "$WORK/venv/bin/pip" install --no-index "$WORK"/story-*.whl "$WORK"/digits-*.whl "$WORK"/numbers-*.whl
"$WORK/story" "It was" -n 20 --seed 7 > "$WORK/expected"
inside() { (cd "$WORK/venv" && bin/python -c "$1"); }
inside 'import story; print("".join(story.generate("It was", 20, seed=7)))' > "$WORK/got" 2>&1
same "wheel: the program's text" "$WORK/expected" "$WORK/got"
check "wheel: a network" inside 'import digits; assert digits.Model().run(image=([1, 1, 8, 8], [1.0] * 64))'
check "wheel: again, with other options" "$BURIN" build examples/austen --mcpu=native --ctx 64 -o "$WORK/story.whl"
for w in "$WORK"/story-*.whl; do check "wheel: pip replaces" "$WORK/venv/bin/pip" install --no-index "$w"; done
check "wheel: pip removes" "$WORK/venv/bin/pip" uninstall -y story
check "wheel: 64-bit ARM" "$BURIN" build examples/digits/digits.onnx --target=aarch64-linux-gnu -O1 -o "$WORK/digits.whl"
check "wheel: its tag" sh -c "ls '$WORK'/digits-1.0+i*-py3-none-manylinux_2_*_aarch64.whl"
check "wheel: Windows" "$BURIN" build examples/digits/digits.onnx --target=x86_64-windows-gnu -O1 -o "$WORK/digits.whl"
check "wheel: its tag" sh -c "ls '$WORK'/digits-1.0+i*-py3-none-win_amd64.whl"

# Weights of more than 4 GB, which no offset of a zip file of this kind reaches
word() { for shift in 1 256 65536 16777216; do printf "\\$(printf %o $(($1 / shift % 256)))"; done; }
dim=2048 hidden=8192 layers=18 heads=16 vocabulary=32000 context=64
for n in $dim $hidden $layers $heads $heads $vocabulary $context; do word $n; done > "$WORK/zeros.bin"
truncate -s $((28 + 4 * (vocabulary * dim + layers * (2 * dim + 4 * dim * dim + 3 * dim * hidden) + dim + context * dim / heads))) "$WORK/zeros.bin"
says "wheel: more than 4 GB" 1 " GB of weights do not fit the 4 GB of a wheel" "$BURIN" build "$WORK/zeros.bin" --mcpu=native -o "$WORK/zeros.whl"

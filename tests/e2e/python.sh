#!/bin/sh
# NAME.py beside NAME.so: text like the program's, saved slots, networks, errors; a NAME.py of others stays as it is.
. tests/lib.sh
unsanitized "python"
python=${PYTHON:-python3}
command -v "$python" > /dev/null || { skip "python" "$python is missing" && exit 0; }
mkdir "$WORK/made"
check "builds a program" "$BURIN" build examples/austen --mcpu=native -o "$WORK/story"
for pair in story:examples/austen translator:examples/numbers digits:examples/digits/digits.onnx; do
    check "builds ${pair%%:*}.so" "$BURIN" build "${pair#*:}" --mcpu=native -o "$WORK/made/${pair%%:*}.so"
    mv "$WORK/made/${pair%%:*}.py" "$WORK/made/my_${pair%%:*}.py"
done
cat > "$WORK/made/use.py" << 'EOF'
import sys
import my_story as story, my_translator as translator, my_digits as digits

what = sys.argv[1]
if what == "write":
    with story.Model(threads=2) as model:
        print("".join(model.generate("It was", 60, seed=7)))
elif what == "slots":
    model = story.Model(slots=2)
    ids = story.encode("It was a truth")
    model.forward(ids)
    saved = model.save()
    expected = list(model.forward([5, 6]))
    model.load(saved, slot=1)
    assert model.length(1) == len(ids) and list(model.forward([5, 6], slot=1)) == expected
    model.truncate(len(ids))
    assert list(model.forward([5, 6])) == expected
    assert story.decode(ids) == "It was a truth" and story.token("<s>") == story.BEGIN and story.token("nonesuch") is None
    for wrong in (lambda: model.forward([story.VOCAB_SIZE]), lambda: model.length(2), lambda: model.load(saved[:100]),
                  lambda: story.Sampler(temperature=-1), lambda: translator.Model().load(saved)):
        try:
            wrong()
            sys.exit("no error")
        except story.Error as e:
            print(e.status)
        except translator.Error as e:
            print(e)
    story.verify()
elif what == "translate":
    print("".join(translator.Model().generate("einhundertacht", 60, temperature=0)))
elif what == "digits":
    model = digits.Model()
    for batch in 1, 5:
        if digits.numpy:
            logits = model.run(image=digits.numpy.ones([batch, 1, 8, 8]))["logits"].ravel().tolist()
        else:
            logits = model.run(image=([batch, 1, 8, 8], [1.0] * 64 * batch))["logits"][1]
        assert len(logits) == 10 * batch and logits[-10:] == logits[:10]
    print(" ".join("%.6g" % v for v in logits[:10]))
    try:
        model.run(picture=1)
    except ValueError as e:
        print(e)
EOF
use() { "$python" "$WORK/made/use.py" "$@"; }

"$WORK/story" "It was" -n 60 --seed 7 > "$WORK/expected"
use write > "$WORK/got" 2>&1
same "the program's text" "$WORK/expected" "$WORK/got"
printf '%s\n' -8 -9 -22 -2 "the slot was saved by another model, or by one that was built with other options" > "$WORK/expected"
use slots > "$WORK/got" 2>&1
same "slots are saved and loaded, errors have their numbers" "$WORK/expected" "$WORK/got"
check "an encoder-decoder" test "$(use translate 2>&1)" = "one hundred and eight"
for _ in $(seq 64); do printf '\000\000\200\077'; done | npy '<f4' '1, 1, 8, 8' > "$WORK/ones.npy"
"$BURIN" run examples/digits/digits.onnx --interpret --input "$WORK/ones.npy" --output "$WORK/out"
values "$WORK/out/logits.npy" | od -An -v -tf4 -w40 | awk '{ for (i = 1; i <= 10; i++) printf "%s%.6g", (i > 1 ? " " : ""), $i; print "" }' > "$WORK/expected"
echo "there is no input picture, but [image: f32[batch, 1, 8, 8]]" >> "$WORK/expected"
use digits > "$WORK/got" 2>&1
same "a network, with a larger batch as well" "$WORK/expected" "$WORK/got"

mkdir "$WORK/other" && echo 'print("mine")' > "$WORK/other/digits.py"
says "a NAME.py of others is kept" 0 "other/digits.py is not written: burin did not write the one that is there" \
    "$BURIN" build examples/digits/digits.onnx --mcpu=native -o "$WORK/other/digits.so"
check "as it was" grep -qx 'print("mine")' "$WORK/other/digits.py"

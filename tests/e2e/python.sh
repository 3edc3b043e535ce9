#!/bin/sh
# The package NAME beside NAME.so: text like the program's, saved slots, networks, errors, unknown settings; a folder of others
# stays as it is.
. tests/lib.sh
unsanitized "python"
python=${PYTHON:-python3}
command -v "$python" > /dev/null || { skip "python" "$python is missing" && exit 0; }
mkdir "$WORK/made"
check "builds a program" "$BURIN" build examples/austen --mcpu=native -o "$WORK/story"
for pair in story:examples/austen translator:examples/numbers digits:examples/digits/digits.onnx; do
    check "builds ${pair%%:*}.so" "$BURIN" build "${pair#*:}" --mcpu=native -o "$WORK/made/${pair%%:*}.so"
done
cat > "$WORK/made/use.py" << 'EOF'
import sys
import story, translator, digits

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
elif what == "wrong":
    for wrong in (lambda: story.Sampler(temprature=3), lambda: story.generate("It", sede=1), lambda: story.generate("It", n=3),
                  lambda: story.generate("It", count=-1), lambda: story.Sampler(nonesuch=3)):
        try:
            wrong()
            sys.exit("no error")
        except (TypeError, ValueError) as e:
            print(str(e)[:60])
elif what == "leave":
    with story.Model() as model:
        text = model.generate("It was", 60, seed=7)
        first = next(text)
        text.close()
        for piece in model.generate("It was", 60, seed=7):
            break
        assert piece == first
        print("".join(model.generate("It was", 60, seed=7)))
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
check "an iterator that is left" test "$(use leave 2>&1)" = "$(cat "$WORK/expected")"
cat > "$WORK/expected" << 'EOF'
Sampler has no setting temprature: did you mean temperature?
Sampler has no setting sede: did you mean seed?
Sampler has no setting n: did you mean count?
count is -1: expected the number of tokens to generate, 0 or
Sampler has no setting nonesuch: there are bias, dry_allowed
EOF
use wrong > "$WORK/got" 2>&1
same "unknown settings are refused before the first token" "$WORK/expected" "$WORK/got"
cat > "$WORK/batch.py" << 'EOF'
import story
prompts = ["It was", "She had", "The", "", "Once upon a time", "And"]
for slots in 1, 3:
    with story.Model(slots=slots) as model:
        texts = model.generate_batch(prompts, 30, seed=5)
        print(texts == ["".join(model.generate(p, 30, seed=5)) for p in prompts])
with story.Model() as model:
    whole = "".join(model.generate("It was", 60, seed=7))
    cut = "".join(model.generate("It was", 60, seed=7, stop=[whole[20:23]]))
    print(cut == whole[:whole.index(whole[20:23])])
EOF
printf 'True\nTrue\nTrue\n' > "$WORK/true"
PYTHONPATH="$WORK/made" "$python" "$WORK/batch.py" > "$WORK/got" 2>&1
same "several texts at once are as each alone, and texts end a text" "$WORK/true" "$WORK/got"
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

mkdir -p "$WORK/other/digits" "$WORK/moved/story" && echo 'print("mine")' > "$WORK/other/digits/__init__.py"
says "a folder of others is kept" 0 "the Python package $WORK/other/digits is not written: burin did not make what is there" \
    "$BURIN" build examples/digits/digits.onnx --mcpu=native -o "$WORK/other/digits.so"
check "as it was" grep -qx 'print("mine")' "$WORK/other/digits/__init__.py"
cp "$WORK/made/story/__init__.py" "$WORK/made/story.so" "$WORK/moved/story"
check "a package may hold its library" sh -c "cd '$WORK/moved' && '$python' -c 'import story; story.verify()'"
rm "$WORK/moved/story/story.so"
says "a package without its library" 1 "story.so is not beside the package story" sh -c "cd '$WORK/moved' && '$python' -c 'import story'"
says "a package has help" 0 "Chooses tokens as the model's program does" sh -c "cd '$WORK/made' && '$python' -c 'import story; help(story)'"

# A wheel: every member has the checksum and the SHA-256 that RECORD says, and it imports as it is.
mkdir "$WORK/wheel" "$WORK/installed"
says "a wheel names what pip does with it" 0 "pip install $WORK/wheel/story-1.0+i" "$BURIN" build examples/austen --mcpu=native -o "$WORK/wheel/story.whl"
cat > "$WORK/wheel.py" << 'EOF'
import base64, hashlib, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None and len(set(z.namelist())) == 6
record = [n for n in z.namelist() if n.endswith(".dist-info/RECORD")][0]
for line in z.read(record).decode().splitlines():
    name, digest, size = line.split(",")
    data = z.read(name)
    if name != record:
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert int(size) == len(data)
z.extractall(sys.argv[2])
EOF
check "a wheel is whole" "$python" "$WORK/wheel.py" "$WORK"/wheel/story-1.0+i*-py3-none-manylinux_2_*.whl "$WORK/installed"
"$WORK/story" "It was" -n 20 --seed 7 > "$WORK/expected"
(cd "$WORK/installed" && "$python" -c 'import story; print("".join(story.generate("It was", 20, seed=7)))') > "$WORK/got" 2>&1
same "a wheel's package writes the program's text" "$WORK/expected" "$WORK/got"
check "a wheel replaces its own" "$BURIN" build examples/austen --mcpu=native -o "$WORK/wheel/story.whl"
echo mine > "$(echo "$WORK"/wheel/story-1.0*.whl)"
says "a wheel of others is kept" 1 "burin did not write it" "$BURIN" build examples/austen --mcpu=native -o "$WORK/wheel/story.whl"
says "a name that Python cannot import" 0 "pip install $WORK/wheel/model_class-1.0+i" "$BURIN" build examples/austen --mcpu=native -o "$WORK/wheel/class.whl"
says "a wheel with a version" 2 "story.whl writes story-VERSION-py3-none-PLATFORM.whl" "$BURIN" build examples/austen -o story-1.0.whl

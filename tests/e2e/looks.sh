#!/bin/sh
# Pictures in, and out come texts that fit, embeddings or boxes: tiny models of each kind against transformers (looks.py).
. tests/lib.sh
unsanitized "looks: programs"
tar xJf tests/e2e/looks.tar.xz -C "$WORK"
TOP=$PWD
BURIN=$TOP/$BURIN
cd "$WORK" || exit 1
if ! "$BURIN" build "$TOP/examples/austen" --with=images -o x > out 2>&1 && grep -q -e "--with=images: there is no static" out; then
    skip "looks: with libpng" "it is not here"
    exit 0
fi

# near NAME GOT: the lines of NAME in expected.txt, numbers to 2e-4 of 1 or of themselves, those of boxes to half of their last digit
near() {
    grep "^$1	" expected.txt | cut -f 2- > want.txt
    awk -F '\t' 'NR == FNR { want[FNR] = $0; n = FNR; next } { k = split(want[m = FNR], a, "\t"); if (k != NF) bad = 1
        for (i = 1; i <= k; i++) { e = a[i] < 0 ? -a[i] : a[i]; limit = i > 2 && NF == 6 ? 6e-3 : 2e-4 * (e > 1 ? e : 1)
            if (a[i] ~ /^-*[0-9]*\.[0-9]+$/ ? (a[i] - $i > limit || $i - a[i] > limit) : a[i] != $i) { bad = 1; print "expected " a[i] ", got " $i } } }
        END { exit bad || n != m }' want.txt "$2"
}
for model in clip siglip vit clip-vision yolos; do
    "$TOP/$BUILD/tools/family_weights" $model $model.model
    check "looks: $model: a program" "$BURIN" build $model.model --mcpu=native -o $model.p
done
for model in clip siglip; do
    for picture in wide small; do ./$model.p $picture.png "a cat" "the red thing" "in an"; done > got.txt
    check "looks: $model: transformers' scores of texts" near $model got.txt
    ./$model.p wide.png small.png "a cat" "the red thing" "in an" | cut -f 2- > both.txt
    same "looks: $model: two pictures at once" got.txt both.txt
done
for model in vit clip-vision; do
    ./$model.p wide.png small.png | tr ' ' '\t' > got.txt
    check "looks: $model: transformers' embeddings" near $model got.txt
done
./yolos.p wide.png --threshold 0.2 > got.txt && ./yolos.p small.png --threshold 0.2 >> got.txt
check "looks: yolos: transformers' boxes" near yolos got.txt
check "looks: yolos: JSON" sh -c './yolos.p wide.png --threshold 0.2 --top-k 1 --format json | grep -qE "^\{\"file\": \"wide.png\", \"objects\": \[\{\"label\": \"[a-z ]*\", \"score\": 0\.[0-9]{6}, \"box\": \[[0-9., -]*\]\}\]\}\$"'
check "looks: clip: JSON" sh -c './clip.p wide.png "a cat" "in an" --top-k 1 --format json | grep -qE "^\{\"file\": \"wide.png\", \"texts\": \[\{\"text\": \"[a-z ]*\", \"score\": 0\.[0-9]{6}\}\]\}\$"'

# ---- embeddings and ranks ----
./clip.p wide.png small.png > lines.txt && ./clip.p "a cat" > text.txt
awk 'NR == FNR { for (i = 1; i <= NF; i++) t[i] = $i; next } { s = 0; for (i = 1; i <= NF; i++) s += $i * t[i]; printf "%.4f\n", s }' text.txt lines.txt | sort -rn > want.txt
printf 'wide.png\nsmall.png\n' > list.txt
./clip.p --rank "a cat" -f list.txt | awk '{ printf "%.4f\n", $1 }' > got.txt
same "looks: --rank: cosines of embeddings" want.txt got.txt
check "looks: --output" sh -c './clip.p wide.png small.png "a cat" --output dir && [ -s dir/image_embeds.npy ] && [ -s dir/text_embeds.npy ]'
./vit.p wide.png small.png --format npy > a.npy && ./vit.p wide.png small.png --output dir
same "looks: --format npy" a.npy dir/pooler_output.npy
for threads in 1 3; do ./clip.p wide.png small.png -t $threads > other.txt && same "looks: the same with -t $threads" lines.txt other.txt; done
check "looks: a program for plain C" "$BURIN" build clip.model --mcpu=x86-64 -o plain.p
./plain.p wide.png small.png > other.txt
same "looks: the same embeddings of plain C" lines.txt other.txt

# ---- what is refused ----
says "looks: nothing" 1 "which picture?" ./clip.p
says "looks: a picture that is not there" 1 "cannot read nowhere.jpg: No such file" ./clip.p nowhere.jpg "a cat"
says "looks: a picture in ranks that is not there" 1 "cannot read nowhere: No such file" ./clip.p --rank "a cat" nowhere
says "looks: two arrays" 1 "pictures and texts are two arrays" ./clip.p wide.png "a cat" --format npy
says "looks: texts for a model without" 2 "--rank: the model has no texts" ./vit.p wide.png --rank "a cat"
says "looks: boxes as npy" 2 "--format npy: expected text or json" ./yolos.p wide.png --format npy
cp -r yolos.model changed && sed 's/"height": 16/"shortest_edge": 16/; s/"width": 24/"longest_edge": 24/' yolos.model/preprocessor_config.json > changed/preprocessor_config.json
says "looks: pictures of any size" 0 "the program takes tensors" "$BURIN" build changed --emit=ir

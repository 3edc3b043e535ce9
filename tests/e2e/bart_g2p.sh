#!/bin/sh
# bart-g2p, a BART that turns words into phonemes: every word of its sample gives what its reference.py computes (bart_g2p.txt:
# word, tab, phonemes). The letters' places in config.json are the tokens; there is no tokenizer.
. tests/lib.sh
data=$SHARED/data/bart-g2p
need "bart-g2p" $data/us_bart.safetensors $data/us_bart_config.json
mkdir "$WORK/model"
cp $data/us_bart.safetensors "$WORK/model/model.safetensors"
cp $data/us_bart_config.json "$WORK/model/config.json"
check "bart-g2p: builds" "$BURIN" build "$WORK/model" --mcpu=native -o "$WORK/g2p"

# Letters to ids, one word a line, between 1 and 2; 3 is any character unknown to the model.
cut -f 1 tests/e2e/bart_g2p.txt > "$WORK/words"
letters=$("$BUILD/tools/expected" "$WORK/model/config.json" grapheme_chars)
awk -v letters="$letters" '{
    line = "1"
    for (i = 1; i <= length($0); i++) { at = index(letters, substr($0, i, 1)); line = line "," (at ? at - 1 : 3) }
    print line ",2"
}' "$WORK/words" > "$WORK/ids"

# Ids to phonemes, which are no ASCII: one a line of a file, ids below 4 are none.
"$BUILD/tools/expected" "$WORK/model/config.json" phoneme_chars | LC_ALL=C sed 's/[\x01-\x7f\xc2-\xf4][\x80-\xbf]*/&\n/g' | grep -v '^$' > "$WORK/phonemes"
"$WORK/g2p" -f "$WORK/ids" -n 59 -t 1 > "$WORK/said" 2>&1
LC_ALL=C awk 'NR == FNR { phoneme[NR - 1] = $0; next }
    { n = split($0, id, ","); text = ""; for (i = 1; i <= n; i++) if (id[i] > 3) text = text phoneme[id[i]]; print text }' \
    "$WORK/phonemes" "$WORK/said" | paste "$WORK/words" - > "$WORK/got"
same "bart-g2p: all $(wc -l < "$WORK/words") words" tests/e2e/bart_g2p.txt "$WORK/got"

#!/bin/sh
# The data of `burin report`, by itself and in its page: sums are those of the plan, everything
# refers to something, texts of strangers stay data. browser.sh tests the drawn page.
. tests/lib.sh
at() { "$BUILD/tools/json_at" "$@"; }
sum() { awk '{ s += $1 } END { printf "%.0f\n", s }'; }

# Parts are whole numbers; each loses less than 1.
adds_up() {
    for _what in operations weight_bytes bytes; do
        at "$1" "$2.kernels.*.$_what" | awk -v all="$(at "$1" "$2.sum.$_what")" '{ s += $1; n++ } END { exit !(n && s <= all && all - s <= n) }' || return 1
    done
}

# structure NAME FILE: what holds of every report
structure() {
    last=$(($(at "$2" 'programs.#') - 1)) program="programs.$last"
    check "report: $1: every pass of passes.def" [ "$(at "$2" 'passes.*.name' | tr '\n' ' ')" = "input $($BURIN passes | awk '/^[a-z]/ && group { print group; group = "" } /^[a-z]/ { group = $1 } /^  [a-z]/ { print $1; group = "" } END { if (group) print group }' | tr '\n' ' ')" ]
    check "report: $1: matched and missed are the sites" [ "$(at "$2" 'summary.fusions.*.matched' | sum)" = "$(at "$2" 'sites.*.missed' | grep -c false)" ]
    at "$2" "$program.graph.nodes.*.name" | sort > "$WORK/nodes"
    at "$2" "$program.kernels.*.node" | sort -u > "$WORK/named"
    check "report: $1: kernels name nodes" [ -s "$WORK/named" -a "$(comm -13 "$WORK/nodes" "$WORK/named" | wc -l)" = 0 ]
    at "$2" "$program.graph.nodes.*.in.*" | grep -v '^null$' | sort -u > "$WORK/named"
    check "report: $1: operands are nodes" [ -s "$WORK/named" -a "$(comm -13 "$WORK/nodes" "$WORK/named" | wc -l)" = 0 ]
    check "report: $1: a function's uses are its kernels" [ "$(at "$2" "$program.functions.*.uses" | sum)" = "$(at "$2" "$program.kernels.#")" ]
    check "report: $1: costs add up" adds_up "$2" "$program.costs.0"
    live=$(at "$2" "$program.memory.peak.buffers.*" | while read -r i; do at "$2" "$program.memory.buffers.$i.bytes"; done | sum)
    check "report: $1: what is live at the peak is the lower bound" [ "${live:-none}" = "$(at "$2" "$program.memory.peak.bytes")" ]
    weights=$(at "$2" "$program.memory.weights.*.bytes" | awk '{ s += int(($1 + 63) / 64) * 64 } END { print s }')
    check "report: $1: weights add up" [ "${weights:-none}" = "$(at "$2" "$program.memory.weight_bytes")" ]
}

# ---- a decoder: against its own plan ----
$BURIN report examples/austen --json > "$WORK/austen.json"
$BURIN report examples/austen -o "$WORK/austen.html" > "$WORK/said"
structure austen "$WORK/austen.json"
check "report: the page says what it is" grep -q "austen.html: a page about austen" "$WORK/said"
at "$WORK/austen.json" '' > "$WORK/alone"
at "$WORK/austen.html" '' > "$WORK/inside"
same "report: the data of the page is that of --json" "$WORK/alone" "$WORK/inside"
$BURIN build examples/austen --emit=c > "$WORK/austen.c"
plan() { sed -n "s,^// *$1 *: \([0-9]*\) bytes.*,\1,p" "$WORK/austen.c"; }
memory=programs.0.memory
check "report: the arena of the plan" [ "$(at "$WORK/austen.json" $memory.arena_bytes)" = "$(plan arena)" ]
check "report: the local memory of the plan" [ "$(at "$WORK/austen.json" $memory.local_bytes)" = "$(plan local)" ]
check "report: the states of the plan" [ "$(at "$WORK/austen.json" "$memory.states.*.bytes" | sum)" = "$(plan state)" ]
check "report: the weights of the plan" [ "$(at "$WORK/austen.json" $memory.weight_bytes)" = "$(plan weights)" ]
check "report: the kernels of the text" [ "$(at "$WORK/austen.json" 'programs.0.functions.#'), $(at "$WORK/austen.json" 'programs.0.kernels.#')" = \
    "$(sed -n 's/.*kernels  : \([0-9]*\) distinct, \([0-9]*\) in a step.*/\1, \2/p' "$WORK/austen.c")" ]
at "$WORK/austen.json" 'programs.0.functions.*' | sed 's/.*"family":"\([a-z]*\)","name":"\([a-z]*\)_.*/\1 \2/' | sort -u | tr '\n' '|' > "$WORK/families"
check "report: the families of kernels" [ "$(cat "$WORK/families")" = "append cache|attention attention|embed embed|gather gather|matmul matmul|norm rms|norm skip|rotary rotary|" ]
check "report: a product's operations" [ "$(at "$WORK/austen.json" programs.0.costs.0.kernels.2.operations)" = $((2 * 192 * 320)) ]
check "report: its weights" [ "$(at "$WORK/austen.json" programs.0.costs.0.kernels.2.weight_bytes)" = $((2 * 192 * 320)) ]
pass=passes.$(at "$WORK/austen.json" 'passes.*.name' | awk '$0 == "fuse_attention" { print NR - 1 }').graphs.0
check "report: counts of ops after a pass" [ "$(at "$WORK/austen.json" "$pass.ops.attention")" = 6 ]
check "report: equal changes of layers are one" [ "$(at "$WORK/austen.json" "$pass.appeared.#") $(at "$WORK/austen.json" "$pass.appeared.0.count")" = "1 6" ]
check "report: the site of a fusion and its pass" [ "$(at "$WORK/austen.json" 'sites.*.pass' | grep -c fuse_attention)" = 6 ]
check "report: the source" at "$WORK/austen.json" sources.0.text
check "report: nothing from elsewhere" [ "$(sed 's/<script type="application.json".*//' "$WORK/austen.html" | grep -v http://www.w3.org/ | grep -cE 'https?:|src=|@import|innerHTML|eval\(')" = 0 ]

# ---- other kinds ----
"$BUILD/tools/family_weights" $FIXTURES/families/bert-masked "$WORK/bert"
$BURIN report "$WORK/bert" --json > "$WORK/bert.json"
structure bert "$WORK/bert.json"
$BURIN report examples/numbers --json > "$WORK/numbers.json"
structure numbers "$WORK/numbers.json"
check "report: an encoder and its decoder" [ "$(at "$WORK/numbers.json" 'programs.*.name' | tr '\n' ' ')" = "model_encode model " ]
$BURIN report examples/digits/digits.onnx --json > "$WORK/digits.json"
structure digits "$WORK/digits.json"
check "report: a node of an export" [ "$(at "$WORK/digits.json" 'programs.0.graph.nodes.*.at.text' | grep -c 'digits.onnx, node')" -gt 20 ]

# ---- time: the program's profile against its kernels ----
# timed NAME MODEL RUNS: each account of the profile is a call in the text, and their sum is the
# whole
timed() {
    $BURIN report "$2" --run --mcpu=x86-64-v3 --json > "$WORK/timed.json" 2> "$WORK/said" || sed 's/^/# /' "$WORK/said"
    check "report: $1: runs" [ "$(at "$WORK/timed.json" 'time.runs.*.step' | tr '\n' '|')" = "$3" ]
    run=0
    while [ $run -lt "$(at "$WORK/timed.json" 'time.runs.#')" ]; do
        here=time.runs.$run run=$((run + 1))
        check "report: $1: run $run: every account has its node" [ "$(at "$WORK/timed.json" "$here.sites.*.node" | wc -l)" = "$(at "$WORK/timed.json" "$here.sites.#")" ]
        check "report: $1: run $run: the parts are the whole" awk -v sum="$({ at "$WORK/timed.json" "$here.sites.*.ms" && at "$WORK/timed.json" "$here.waiting_ms"; } | awk '{ s += $1 } END { print s }')" \
            -v all="$(at "$WORK/timed.json" "$here.ms")" 'BEGIN { exit !(all > 0 && sum - all < 1e-3 && all - sum < 1e-3) }'
    done
}
timed austen examples/austen "one row|prompt|"
check "report: a step of each kernel of the loop" [ "$(at "$WORK/timed.json" 'time.runs.0.sites.*.calls' | sort -n | tail -n 1)" = $((64 * 6)) ]
check "report: weights read in all steps" [ "$(at "$WORK/timed.json" 'time.runs.0.sites.*' | sed -n 's/.*"function":"matmul_bf16_192x320".*"weight_bytes":\([0-9]*\).*/\1/p')" = $((64 * 6 * 192 * 320 * 2)) ]
check "report: limits of this machine" awk -v read="$(at "$WORK/timed.json" time.limits.read)" -v fma="$(at "$WORK/timed.json" time.limits.fma)" 'BEGIN { exit !(read > 1e8 && fma > 1e8) }'
check "report: times of the layers" [ "$(at "$WORK/timed.json" 'time.runs.0.layers.*.layer' | sort | tr '\n' '|')" = "|$(seq 0 5 | sed 's/^/model.layers./' | tr '\n' '|')" ]
check "report: the layers are the whole" awk -v layers="$(at "$WORK/timed.json" 'time.runs.0.layers.*.ms' | awk '{ s += $1 } END { print s }')" \
    -v sites="$(at "$WORK/timed.json" 'time.runs.0.sites.*.ms' | awk '{ s += $1 } END { print s }')" \
    -v n="$(at "$WORK/timed.json" 'time.runs.0.sites.#')" 'BEGIN { d = layers - sites; exit !(d * d < (0.02 * sites + n / 100) ^ 2) }'
check "report: a headline's memory is that of the build" [ "$(at "$WORK/timed.json" summary.needs.weights)" -gt 5000000 -a "$(at "$WORK/timed.json" summary.needs.cache)" -gt 1000000 ]
# A network's caches have room for its longest text; what its runs read of them are their own rows: 64 wide, 2 layers' products of
# scores and of values.
timed bert "$WORK/bert" "runs over random values|"
rows=$(at "$WORK/timed.json" time.runs.0.rows)
at "$WORK/timed.json" 'time.runs.0.sites.*' | sed -n 's/.*"calls":\([0-9]*\).*"function":"attention_.*"operations":\([0-9]*\).*/\1 \2/p' > "$WORK/attention"
check "report: attention counts the rows of its run" awk -v rows="$rows" '{ n++; if ($2 != $1 * 4 * rows * rows * 64) bad = 1 } END { exit bad || !n }' "$WORK/attention"
timed numbers examples/numbers "a text and its answer|"

# ---- attention ----
$BURIN report examples/austen --text "It was" --json > "$WORK/seen.json"
check "report: attention: the tokens" [ "$(at "$WORK/seen.json" 'attention.tokens.0.tokens.*' | tr '\n' '|')" = "<s>|It| was|" ]
check "report: attention: a layer each" [ "$(at "$WORK/seen.json" 'attention.layers.#') $(at "$WORK/seen.json" attention.layers.5.heads) $(at "$WORK/seen.json" attention.layers.5.rows) $(at "$WORK/seen.json" attention.layers.5.keys)" = "6 6 3 3" ]
at "$WORK/seen.json" attention.layers.0.shares | base64 -d | od -An -v -tu1 -w3 > "$WORK/shares"
check "report: attention: the first token sees itself" [ "$(head -n 6 "$WORK/shares" | tr -s ' ' | sort -u)" = " 255 0 0" ]
check "report: attention: shares of a row are one" awk '{ s = $1 + $2 + $3; if (s < 253 || s > 257) bad = 1; n++ } END { exit bad || n != 18 }' "$WORK/shares"
check "report: attention: none of what follows" awk 'NR > 6 && NR <= 12 && $3 { bad = 1 } END { exit bad }' "$WORK/shares"
$BURIN report examples/numbers --text "einhundertacht" --json > "$WORK/seen.json"
check "report: attention: an encoder, a decoder, and across" [ "$(at "$WORK/seen.json" 'attention.layers.*.graph' | tr '\n' ' ')" = "encode encode decode decode decode decode " ]
says "report: a long text" 0 " tokens: the page shows the first 64" $BURIN report examples/austen --text "$(seq 99 | tr "\n" " ")" -o "$WORK/long.html"
says "report: attention needs a text program" 1 "--text: the program of this model reads no text" $BURIN report examples/digits/digits.onnx --text x
says "report: a network has inputs" 2 "--tokens: the program of this network reads --input NAME=F.npy" $BURIN report examples/digits/digits.onnx --tokens 1,2
$BURIN report examples/digits/digits.onnx --input image=examples/digits/images.npy --json > "$WORK/seen.json"
check "report: attention: of a network, in each layer" [ "$(at "$WORK/seen.json" 'attention.layers.*.rows' | tr '\n' ' ') $(at "$WORK/seen.json" attention.layers.0.keys)" = "17 17 17 17  17" ]
at "$WORK/seen.json" attention.layers.3.shares | base64 -d | od -An -v -tu1 -w17 > "$WORK/shares"
check "report: attention: of a network: shares of a row are one" awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i; if (s < 245 || s > 265) bad = 1; n++ } END { exit bad || n != 68 }' "$WORK/shares"
check "report: attention: of a network: rows have numbers" [ "$(at "$WORK/seen.json" 'attention.tokens.0.tokens.*' | tr '\n' ' ')" = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 " ]
$BURIN report examples/austen --tokens 1,5,9 --json > "$WORK/ids.json"
check "report: attention: of tokens" [ "$(at "$WORK/ids.json" attention.text) $(at "$WORK/ids.json" attention.layers.0.rows)" = "1,5,9 3" ]

# ---- texts of strangers ----
hostile='</script><img src=x onerror=alert(1)><!-- & \342\200\250 \\ "'
"$BUILD/tools/hostile" examples/digits/digits.onnx "$WORK/hostile.onnx" vit "$hostile"
$BURIN report "$WORK/hostile.onnx" -o "$WORK/hostile.html" > "$WORK/said" 2>&1
check "report: hostile names end no script" [ "$(grep -c '</script>' "$WORK/hostile.html") $(grep -c '<img' "$WORK/hostile.html")" = "2 0" ]
check "report: hostile names: no byte of theirs ends a line" [ "$(LC_ALL=C grep -c "$(printf '\342\200\250')" "$WORK/hostile.html")" = 0 ]
check "report: hostile names: they are in the data" [ "$(at "$WORK/hostile.html" 'programs.0.graph.nodes.*.at.scope' | grep -c '<img src=x onerror=alert(1)>')" -gt 20 ]

# ---- errors ----
says "report: no model" 2 "burin report needs a MODEL" $BURIN report
says "report: a place that is none" 1 "cannot write $WORK/none/x.html" $BURIN report examples/austen -o "$WORK/none/x.html"
check "report: damaged models leave nothing" [ "$($BURIN report Makefile -o "$WORK/x.html" 2>&1 | grep -c error) $(ls "$WORK" | grep -c '^x.html')" = "1 0" ]

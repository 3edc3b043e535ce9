#!/bin/sh
# The page of `burin report` in headless Chromium (Debian's package chromium; nothing here installs it): drawn without an error, folded
# and unfolded, its slider moved, nodes chosen.
. tests/lib.sh
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome)
[ -n "$chromium" ] || { skip browser "no chromium: apt-get install chromium" && exit 0; }

"$BUILD/tools/family_weights" $FIXTURES/families/bert-masked "$WORK/bert"
"$BUILD/tools/hostile" examples/digits/digits.onnx "$WORK/hostile.onnx" vit '</script><img src=x onerror=alert(1)><b>'
: > "$WORK/lines"
# page NAME MODEL OPTIONS...: opens its report. expects NAME TEXT EXPRESSION
page() {
    about=$1 model=$2
    shift 2
    $BURIN report "$model" "$@" -o "$WORK/$about.html" > "$WORK/said" 2>&1 || not_ok "browser: $about: $(cat "$WORK/said")"
    echo "open $WORK/$about.html" >> "$WORK/lines"
    expects "no part is empty" true "[...document.querySelectorAll('section')].every((s) => s.children.length > 1 && s.textContent.length > 40)"
    expects "nothing is drawn outside" true "[...document.querySelectorAll('#canvas .box rect')].every((r) => r.x.baseVal.value >= 0 && isFinite(r.y.baseVal.value))"
    expects "texts of the model make no elements" 0 "document.querySelectorAll('img, main b b').length"
}
number=0
expects() {
    number=$((number + 1))
    echo "$3" >> "$WORK/lines"
    printf '%s\t%s\t%s\n' "$about: $1" "$2" "$number" >> "$WORK/expected"
}
boxes="document.querySelectorAll('#canvas .box').length"
click() { echo "document.querySelector('$1').dispatchEvent(new MouseEvent('click', { bubbles: true })), 'clicked'"; }

page austen examples/austen --text "It was a truth" --run --mcpu=x86-64-v3
expects "its name" "austen – burin report" "document.title"
expects "six layers are one box" 1 "document.querySelectorAll('#canvas .fold').length"
expects "a click" clicked "$(click '#canvas .fold')"
expects "opens them by kind" "layer 0|layers 1–4 ×4|layer 5" "[...document.querySelectorAll('#canvas .fold')].map((b) => b.getAttribute('aria-label').replace('model.layers ', '')).join('|')"
expects "open all layers" clicked "$(click '#unfold')"
expects "every node has a box" true "$boxes === data.programs[0].graph.nodes.filter((n) => !hidden(n)).length + 1"
expects "fold" clicked "$(click '#fold')"
expects "folded again" 1 "document.querySelectorAll('#canvas .fold').length"
expects "search" 6 "section('search').value = 'attention %attention', search('attention attention'), [...graph.found].filter((n) => n.op === 'attention').length"
expects "a node by a key" chosen "[...document.querySelectorAll('#canvas .box')].find((b) => b.dataset.name === 'gather').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })), 'chosen'"
expects "its text" true "section('facts').querySelector('.text').textContent.startsWith('%gather = gather(')"
expects "a hidden layer's node is shown" true "reveal(graph.program.nodes.get('attention.3')), !!document.querySelector('#canvas .chosen')"
expects "its line of the description" true "section('facts').querySelector('mark').textContent.includes('merge_heads')"
expects "its C" true "section('facts').querySelector('.c').textContent.includes('attention_6x2x32')"
expects "its memory" true "section('facts').textContent.includes('state key of layer 3')"
expects "the slider begins at a fusion" ": fuse_attention (fuse)" "section('pass-name').textContent.replace(/^\\d+ of \\d+/, '')"
expects "the slider moves" ": layout" "section('slider').value = data.passes.length - 1, section('slider').dispatchEvent(new Event('input')), section('pass-name').textContent.replace(/^\\d+ of \\d+/, '')"
expects "every pass is drawn" true "data.passes.every((p, i) => (showPass(i), section('pass').textContent.includes(p.help)))"
expects "buffers are drawn" true "document.querySelectorAll('.buffer').length === data.programs[0].memory.buffers.filter((b) => !b.fixed_size).reduce((n, b) => n + b.live.length, 0)"
expects "a buffer" true "document.querySelector('.buffer').dispatchEvent(new MouseEvent('click')), !!document.querySelector('.buffer.chosen')"
expects "a link to each part" true "[...document.querySelectorAll('nav a')].every((a) => section(a.getAttribute('href').slice(1)))"
expects "a picture of each head" 36 "document.querySelectorAll('canvas.heat').length"
expects "what a token sees" true "attention.row = 2, attention.head = 1, drawTokens(), section('tokens').querySelectorAll('.tokens span.chosen').length === 1 && section('tokens').textContent.includes('%')"
expects "times of layers" 7 "section('time').querySelector('.layers').querySelectorAll('tbody tr').length"
expects "a headline" "true 3" "[...document.querySelectorAll('.headline b')].every((b) => /^[0-9.]+/.test(b.textContent)) + ' ' + document.querySelectorAll('.headline b').length"
expects "a bar of all memory" "weights KV work" "[...document.querySelectorAll('.needs .part')].map((p) => p.textContent.split(' ')[0]).join(' ')"
expects "waiting is a row" true "data.time.runs.every((r) => !r.waits) || section('time').textContent.includes('(waiting for other threads)')"
expects "columns sort, and back" "true true" "(() => { const t = section('time').querySelector('.scroll table'), h = t.tHead.rows[0].cells[3], n = () => [...t.tBodies[0].rows].map((r) => parseFloat(r.cells[3].textContent)); h.click(); const down = n().every((v, i, a) => !i || a[i - 1] >= v); h.click(); return down + ' ' + n().every((v, i, a) => !i || a[i - 1] <= v); })()"
for width in 390 1280; do
    echo "width $width" >> "$WORK/lines"
    expects "nothing is wider than $width pixels" true "document.documentElement.scrollWidth <= $width"
done
expects "times of kernels" true "section('time').querySelectorAll('tbody tr').length > 20 && !!section('time').querySelector('circle')"
page bert "$WORK/bert"
expects "its graph" true "$boxes > 5"
page numbers examples/numbers --text "einhundertacht"
expects "two graphs" "encode decode" "[...document.querySelectorAll('#graph option')].map((o) => o.textContent).join(' ')"
expects "the second" true "showProgram(data.programs[1]), !!document.querySelector('#canvas [data-name=position]')"
expects "attention across" "true 6" "data.attention.layers.every((l) => l.rows && l.keys) + ' ' + data.attention.layers.length"
page digits examples/digits/digits.onnx --input image=examples/digits/images.npy
expects "an export's node" true "reveal(graph.program.graph.nodes.find((n) => n.op === 'attention')), section('facts').textContent.includes('digits.onnx, node')"
expects "a picture of each head of a network" 16 "document.querySelectorAll('canvas.heat').length"
expects "what a row of it sees" true "attention.row = 16, drawTokens(), section('tokens').querySelectorAll('tbody tr').length === 8"
page hostile "$WORK/hostile.onnx"
expects "its layers" true "unfold(true), $boxes > 20"
expects "names are texts" true "reveal(graph.program.graph.nodes.find((n) => (n.at.scope || '').includes('<img'))), section('facts').textContent.includes('<img src=x')"
minilm=$HOME/.cache/burin-models/minilm
if [ -d "$minilm" ]; then
    page minilm "$minilm" --text "a cat sleeps"
    expects "six layers are one box" 1 "document.querySelectorAll('#canvas .fold').length"
    expects "a picture of each head" 72 "document.querySelectorAll('canvas.heat').length"
    expects "its tokens" "[CLS] a cat sleeps [SEP]" "data.attention.tokens[0].tokens.join(' ')"
else skip "browser: minilm" "$minilm is missing"; fi
smollm2=$HOME/.cache/burin-models/smollm2
if [ -d "$smollm2" ]; then
    page smollm2 "$smollm2"
    expects "thirty layers are one box" 1 "document.querySelectorAll('#canvas .fold').length"
    check "browser: smollm2: 5 MB at most" [ "$(wc -c < "$WORK/smollm2.html")" -lt 5000000 ]
    expects "in a second or two of a busy machine" true "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd < 2000"
else skip "browser: smollm2" "$smollm2 is missing"; fi

"$BUILD/tools/browse" "$chromium" < "$WORK/lines" > "$WORK/got" 2> "$WORK/errors"
[ $? != 3 ] || { skip browser "chromium does not start here" && exit 0; }
check "browser: no errors" [ ! -s "$WORK/errors" ]
head -5 "$WORK/errors" | sed 's/^/# /'
while IFS="$(printf '\t')" read -r name expected line; do
    got=$(sed -n "${line}p" "$WORK/got")
    if [ "$got" = "$expected" ]; then ok "browser: $name"; else not_ok "browser: $name: $got, expected $expected"; fi
done < "$WORK/expected"

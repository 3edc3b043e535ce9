#!/bin/sh
# The page of a server in headless Chromium: it sends, streams, stops, keeps conversations, shows
# hostile text as text, fits a phone.
. tests/lib.sh
. tests/lib_server.sh
need "page: austen as a program" examples/austen/model.safetensors
unsanitized "page: drawn"
[ -e /usr/include/event2/http.h ] || { skip "page: with libevent" "it is not here" && exit 0; }
talking "$WORK/model"
# This template puts the user's text into the model's mouth, so that an answer can be hostile.
"$BURIN" build "$WORK/model" --mcpu=native --with=server --line-editor=none -o "$WORK/talk" > "$WORK/out" 2>&1 || { cat "$WORK/out"; exit 1; }
serving "$WORK/talk" -t 1 || { cat "$WORK/served"; exit 1; }
printf 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n' | "$BUILD/tools/http_client" "$port" raw > "$WORK/page"
check "page: its type and policy" sh -c "grep -q '^Content-Type: text/html; charset=utf-8' '$WORK/page' && grep -q \"^Content-Security-Policy: default-src 'none'\" '$WORK/page'"
check "page: $(wc -c < "$WORK/page") bytes" test "$(wc -c < "$WORK/page")" -lt 60000
check "page: nothing makes HTML of text, nothing comes from elsewhere" sh -c "! grep -qE 'innerHTML|outerHTML|insertAdjacent|document.write|https?://' '$WORK/page'"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome)
[ -n "$chromium" ] || { skip "page: in a browser" "no chromium: apt-get install chromium" && stopped && exit 0; }
cat > "$WORK/lines" << END
open http://127.0.0.1:$port/
document.querySelectorAll('[role=log], [aria-label=Message], dialog[aria-labelledby=title]').length
const said = () => [...document.querySelectorAll('.said')].map(e => e.textContent), idle = async () => { while (document.getElementById('send').hidden) await new Promise(r => setTimeout(r, 20)); }, say = async t => { const b = document.getElementById('text'); b.value = t; document.getElementById('form').requestSubmit(); await idle(); return said().length }; window.t = { said, idle, say }; 1
state.settings = { max_tokens: '8', seed: '1', temperature: '0' }; 1
t.say('It was')
t.said()[0] + (t.said()[1].length > 5)
t.say('<img src=x onerror=document.title=1><script>document.title=2</' + 'script>')
document.querySelectorAll('#list img, #list script').length + document.title
state.turns.push({ role: 'assistant', content: '<b>bold</b><img src=x onerror=document.title=3>', reasoning: '<i>x</i>', error: '<u>x</u>', note: '<s>x</s>' }); show(); document.querySelectorAll('#list b, #list img, #list i, #list u, #list s').length + t.said().pop()
state.turns.pop(); show(); [...document.querySelectorAll('.more button')].filter(b => b.textContent === 'Retry').pop().click(); t.idle().then(() => [...document.querySelectorAll('.more span')].some(e => e.textContent === '2 of 2'))
document.querySelectorAll('.more button').length
state.settings = { max_tokens: '500', seed: '1' }; const b = document.getElementById('text'); b.value = 'On'; document.getElementById('form').requestSubmit(); new Promise(r => setTimeout(r, 30)).then(() => { document.getElementById('stop').click(); return t.idle() }).then(() => document.getElementById('stop').hidden)
save(); JSON.parse(localStorage.getItem('burin')).turns.length
open http://127.0.0.1:$port/
[...document.querySelectorAll('.said')].length
width 360
innerWidth + ' ' + (document.documentElement.scrollWidth <= innerWidth) + ' ' + (document.getElementById('send').getBoundingClientRect().right <= innerWidth)
${SHOT:+shot $SHOT}
END
"$BUILD/tools/browse" "$chromium" < "$WORK/lines" > "$WORK/got" 2> "$WORK/errors"
[ $? != 3 ] || { skip "page: in a browser" "chromium does not start here" && stopped && exit 0; }
check "page: no error in its console" sh -c "cat '$WORK/errors'; test ! -s '$WORK/errors'"
number=0
# gives NAME PATTERN: the next value
gives() {
    number=$((number + 1))
    value=$(sed -n "${number}p" "$WORK/got")
    check "page: $1: $value" expr "$value" : "$2\$"
}
gives "roles and labels" 3
gives "its functions" 1
gives "its settings" 1
gives "a question and its answer" 2
gives "both are shown" "It wastrue"
gives "another question" 4
gives "tags of a user are text" "0model"
gives "tags of a model are text" "0<b>bold</b><img src=x onerror=document.title=3>"
gives "a new answer beside the old one" true
gives "buttons for each turn" "[0-9]*"
gives "an answer is stopped" true
gives "the chat is kept" 6
gives "after a reload" 6
gives "on a phone" "360 true true"
stopped

#!/bin/sh
# Chat templates: small ones for every construct, real ones where the shared data is, as Jinja2 renders them (generate.py); then the
# command, and templates and messages that are wrong or hostile.
. tests/lib.sh
T=tests/templates
"$BUILD/tools/templates" $T/cases.json > "$WORK/got" 2> /dev/null
check "templates: every construct ($(tail -1 "$WORK/got"))" test $? = 0 -a "$(tail -1 "$WORK/got" | sed 's/.*refused, //')" = "0 wrong"
grep -v refused "$WORK/got" | sed 's/^/# /'

shared=$SHARED/data/templates
if [ -d "$shared" ]; then
    "$BUILD/tools/templates" --shared "$shared" > "$WORK/got" 2> /dev/null
    check "templates: real ones, to the byte" test "$(tail -1 "$WORK/got")" = "1588 texts, 116 raised, 225 refused, 0 wrong"
    sed 's/^/# /' "$WORK/got"
else
    skip "templates: real ones" "the shared data is missing"
fi

cat > "$WORK/t.jinja" << 'END'
{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}
{% endfor %}
{%- if add_generation_prompt %}<assistant>{% endif %}
{%- if words %}{{ raise_exception(words) }}{% endif %}
END
echo '[{"role": "user", "content": "Hi \u00e9"}]' > "$WORK/m.json"
# renders NAME EXPECTED ARGUMENT...
renders() {
    _name=$1 _expected=$2
    shift 2
    _got=$("$BURIN" template "$@" 2>&1)
    check "templates: $_name: $_got" test "$_got" = "$_expected"
}
renders "a list of messages" "<user>Hi é
<assistant>" "$WORK/t.jinja" --messages="$WORK/m.json"
renders "--bos and --eos" "<s><user>Hi é</s>
<assistant>" "$WORK/t.jinja" --messages "$WORK/m.json" --bos "<s>" --eos "</s>"
echo '{"messages": [{"role": "user", "content": "x"}], "add_generation_prompt": false}' > "$WORK/o.json"
renders "an object" "<user>x" "$WORK/t.jinja" --messages="$WORK/o.json"
check "templates: from standard input" test "$("$BURIN" template "$WORK/t.jinja" --messages=- < "$WORK/o.json")" = "<user>x"
printf '%s' '{"messages": [], "kwargs": {"words": "No, that is\nwrong."}}' > "$WORK/w.json"
says "templates: the template's own words" 1 'error: No, that is\nwrong.' "$BURIN" template "$WORK/t.jinja" --messages="$WORK/w.json"
printf '%s' "{{ strftime_now('%d %b %Y %H:%M') }}" > "$WORK/now.jinja"
renders "--now" "05 Jul 2025 14:03" "$WORK/now.jinja" --messages="$WORK/m.json" --now "2025-07-05 14:03:09"
says "templates: no time" 1 'the time "noon" is not like 2025-07-05 14:03:09' "$BURIN" template "$WORK/now.jinja" --messages="$WORK/m.json" --now noon

# Where models keep theirs.
mkdir "$WORK/one" "$WORK/two" "$WORK/none"
echo '{"chat_template": "{{ bos_token }}config", "bos_token": {"content": "<B>"}, "model_max_length": 1000000000000000019884624838656}' > "$WORK/one/tokenizer_config.json"
renders "tokenizer_config.json" "<B>config" "$WORK/one" --messages="$WORK/m.json"
renders "that file itself" "<B>config" "$WORK/one/tokenizer_config.json" --messages="$WORK/m.json"
printf '{{ bos_token }}file' > "$WORK/one/chat_template.jinja"
renders "chat_template.jinja goes first" "<B>file" "$WORK/one" --messages="$WORK/m.json"
echo '{"chat_template": [{"name": "rag", "template": "r"}, {"name": "default", "template": "d{{ eos_token }}"}], "eos_token": "E"}' > "$WORK/two/tokenizer_config.json"
renders "the default of a list" "dE" "$WORK/two" --messages="$WORK/m.json"

# Integers of any size come out digit for digit; arithmetic is of 64 bits.
echo '{"messages": [], "kwargs": {"a": 12345678901234567890, "b": -98765432109876543210987654321, "c": 9223372036854775807, "d": -9223372036854775808, "e": 9223372036854775808}}' > "$WORK/big.json"
printf '%s' '{{ a }} {{ b }} {{ c }} {{ d }} {{ e }} {{ [a,b]|tojson }} {{ a > c }} {{ b < d }} {{ a == a }} {{ e == c }} {{ a is integer }} {{ "%d|%5s" % (a, 1) }} {{ "{:,}".format(b) }} {{ "00123456789012345678901234567890"|int }} {{ 1e25|int }} {{ b|abs }} {{ a|int }} {{ a / 2 }} {{ {"x": a} }} {{ "x"|truncate(9223372036854775807) }}{{ "x"|center(-9223372036854775807) }}{{ "x".ljust(-9223372036854775807) }}' > "$WORK/big.jinja"
renders "large integers" "12345678901234567890 -98765432109876543210987654321 9223372036854775807 -9223372036854775808 9223372036854775808 [12345678901234567890, -98765432109876543210987654321] True True True False True 12345678901234567890|    1 -98,765,432,109,876,543,210,987,654,321 123456789012345678901234567890 10000000000000000905969664 98765432109876543210987654321 12345678901234567890 6.172839450617284e+18 {'x': 12345678901234567890} xxx" "$WORK/big.jinja" --messages="$WORK/big.json"
printf '%s' '{{ a + 1 }}' > "$WORK/big.jinja"
says "templates: sums beyond 64 bits" 1 "a number is too large: arithmetic is of 64 bits" "$BURIN" template "$WORK/big.jinja" --messages "$WORK/big.json"

# A field of a message that is null is none, as in transformers 5; null within tools stays.
echo '{"messages": [{"role": "assistant", "content": null, "tool_calls": null, "x": {"y": null}}], "tools": [{"d": null}]}' > "$WORK/null.json"
printf '%s' '{{ messages[0].content is defined }}{{ messages[0] }}{{ tools }}' > "$WORK/null.jinja"
renders "null in messages" "False{'role': 'assistant', 'x': {'y': None}}[{'d': None}]" "$WORK/null.jinja" --messages="$WORK/null.json"

# Several templates by name, and every special token as a variable, as transformers has them.
echo '{"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f"}]}' > "$WORK/tools.json"
several='[{"name": "rag", "template": "r"}, {"name": "default", "template": "A{% for m in messages %}{{ m.content }}{% endfor %}"}, {"name": "tool_use", "template": "B{{ tools | length }}{% macro f() %}{{ messages[0].content }}{% endmacro %}{{ f() }}"}]'
echo "{\"chat_template\": $several}" > "$WORK/two/tokenizer_config.json"
renders "tool_use with tools" "B1hi" "$WORK/two" --messages="$WORK/tools.json"
renders "default without" "AHi é" "$WORK/two" --messages="$WORK/m.json"
echo '{"messages": [{"role": "user", "content": "hi"}], "tools": []}' > "$WORK/no_tools.json"
renders "tool_use with an empty list" "B0hi" "$WORK/two" --messages="$WORK/no_tools.json"
echo '{"chat_template": {"default": "D", "tool_use": "T"}}' > "$WORK/two/tokenizer_config.json"
renders "an object of templates" "T" "$WORK/two" --messages="$WORK/tools.json"
mkdir -p "$WORK/files/additional_chat_templates"
printf 'file' > "$WORK/files/chat_template.jinja"
printf '{{ tools[0].name }}' > "$WORK/files/additional_chat_templates/tool_use.jinja"
renders "files of templates, with tools" "f" "$WORK/files" --messages="$WORK/tools.json"
renders "files of templates, without" "file" "$WORK/files" --messages="$WORK/m.json"
echo '{"chat_template": [{"name": "tool_use", "template": "T"}]}' > "$WORK/two/tokenizer_config.json"
renders "tool_use alone" "T" "$WORK/two" --messages="$WORK/tools.json"
says "templates: no default" 1 "This model has several chat templates, and none called" "$BURIN" template "$WORK/two" --messages "$WORK/m.json"
echo '{"chat_template": [{"name": "rag", "template": "T"}]}' > "$WORK/two/tokenizer_config.json"
says "templates: other names alone" 1 'several templates, and none called "default" or "tool_use"' "$BURIN" template "$WORK/two" --messages "$WORK/m.json"
printf '%s' '{"chat_template": [{"name": "default", "template": "ok"}, {"name": "tool_use", "template": "a\n{{ x"}]}' > "$WORK/two/tokenizer_config.json"
says "templates: a mistake in tool_use" 1 'chat_template.tool_use:2:1: error: the tag has no end' "$BURIN" template "$WORK/two" --messages "$WORK/m.json"
variables='{{ pad_token }}{{ unk_token }}{{ image_token }}{{ own_token }}{{ mask_token }}{{ sep_token is defined }}{{ additional_special_tokens }}'
printf '{"chat_template": "%s", "pad_token": "<p>", "mask_token": {"content": "<m>"}, "extra_special_tokens": {"own_token": "<o>"}, "image_token": "<i>"}' "$variables" > "$WORK/two/tokenizer_config.json"
echo '{"unk_token": "<u>", "pad_token": "<other>", "bos_token": "<s>"}' > "$WORK/two/special_tokens_map.json"
renders "special tokens" "<p><u><i><o><m>False" "$WORK/two" --messages="$WORK/m.json"
printf '{"chat_template": "%s", "pad_token": "<p>", "added_tokens_decoder": {}}' "$variables" > "$WORK/two/tokenizer_config.json"
renders "special tokens, beside added_tokens_decoder" "<p>False" "$WORK/two" --messages="$WORK/m.json"
if [ -d "$SHARED/data/found2/gguf_tpls" ]; then
    renders "templates of a GGUF" "B[{'name': 'f'}]" "$SHARED/data/found2/gguf_tpls/m.gguf" --messages="$WORK/tools.json"
fi

# Messages as OpenAI's API has them.
# openai NAME EXPECTED TEMPLATE MESSAGES
openai() {
    printf '%s' "$3" > "$WORK/openai.jinja"
    printf '{"messages": [%s], "add_generation_prompt": false}' "$4" > "$WORK/openai.json"
    renders "$1" "$2" "$WORK/openai.jinja" --messages="$WORK/openai.json"
}
call='{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1, \"y\": [\"\u00e9\"]}"}}]}'
openai "arguments in text, as JSON" '{"x": 1, "y": ["é"]}' '{{ messages[0].tool_calls[0].function.arguments | tojson }}' "$call"
openai "arguments in text, item by item" 'x=1;y=['"'é'"'];' '{% for k, v in messages[0].tool_calls[0].function.arguments.items() %}{{ k }}={{ v }};{% endfor %}' "$call"
openai "arguments in text, joined" 'f{"x":1, "y": ["é"]}|{"x":1, "y": ["é"]}' '{% set f = messages[0].tool_calls[0].function %}{{ f.name + f.arguments }}|{{ f.arguments }}' "$call"
openai "arguments that are no JSON" '"{x"' '{{ messages[0].tool_calls[0].function.arguments | tojson }}' '{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{x"}}]}'
openai "no arguments" '{}' '{{ messages[0].tool_calls[0].function.arguments | tojson }}' '{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ""}}]}'
parts='{"role": "user", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}'
openai "parts" '<user>a b' "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% endfor %}" "$parts"
openai "parts, for strings alone" 'a b' "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% endif %}{% endfor %}" "$parts"
openai "parts, for a template that reads them" '[a ][b]' "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endif %}{% endfor %}" "$parts"
openai "parts, joined by a template that reads others" 'a bx' "{{ documents.text }}{% for m in messages %}{{ m.content.strip() + 'x' }}{% endfor %}" "$parts"
openai "parts of a tool's result" '<tool>7' "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% endfor %}" '{"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "7"}]}'
openai "a result has its call's name" 'f=2;g=3;=4;' "{% for m in messages %}{% if m.role == 'tool' %}{{ m.name }}={{ m.content }};{% endif %}{% endfor %}" \
    "$call, {\"role\": \"tool\", \"tool_call_id\": \"c\", \"content\": \"2\"}, {\"role\": \"tool\", \"tool_call_id\": \"c\", \"name\": \"g\", \"content\": \"3\"}, {\"role\": \"tool\", \"tool_call_id\": \"x\", \"content\": \"4\"}"
openai "reasoning by any name" 'a a|b b|c c| ' "{% for m in messages %}{{ m.reasoning_content }} {{ m.thinking }}{% if not loop.last %}|{% endif %}{% endfor %}" \
    '{"role": "assistant", "reasoning": "a"}, {"role": "assistant", "thinking": "b", "reasoning_content": null}, {"role": "assistant", "reasoning_content": "c"}, {"role": "assistant", "reasoning": null}'
openai "a developer" '<system>x' "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% endfor %}" '{"role": "developer", "content": "x"}'
openai "a developer that is known" '<developer>x' "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% if m.role == 'developer' %}{% endif %}{% endfor %}" '{"role": "developer", "content": "x"}'

# wrong NAME TEMPLATE MESSAGE
wrong() {
    printf '%s' "$2" > "$WORK/wrong.jinja"
    says "templates: $1" 1 "$3" "$BURIN" template "$WORK/wrong.jinja" --messages="$WORK/m.json"
}
says "templates: no template" 1 "there is no chat template in " "$BURIN" template "$WORK/none" --messages="$WORK/m.json"
says "templates: no messages" 2 "burin template needs --messages=FILE" "$BURIN" template "$WORK/t.jinja"
wrong "a tag outside of the subset" "a
  {% include 'x' %}" 'wrong.jinja:2:6: error: the tag "include" is not of the subset'
wrong "an end without a begin" "{% endif %}" 'the tag "endif" ends nothing'
wrong "no end of a tag" "{{ x" "the tag has no end: expected }}"
wrong "no end of a comment" "{# x" "the comment has no end: expected #}"
wrong "no end of a raw block" "{% raw %}" 'the raw block has no end, a tag "endraw"'
wrong "no end of a loop" "{% for x in y %}" 'what begins here has no end, a tag "endfor"'
wrong "no end of a string" "{{ 'x }}" "the string has no end"
wrong "an escape" "{{ '\\xg' }}" "the escape is no character: expected 2 hexadecimal digits"
wrong "a named character" "{{ '\\N{DASH}' }}" 'names of characters (\N) are not of the subset'
wrong "a number" "{{ 99999999999999999999 }}" "the number is too large"
wrong "a long number" "{{ 1$(printf '%080d' 0) }}" "the number is too long"
wrong "an end of all" "{% if x" "the tag has no end: expected %}"
wrong "a character" "{{ @ }}" "this character is not expected in a tag"
wrong "a bracket" "{{ 1) }}" "this bracket closes none"
wrong "many brackets" "{{ $(printf '%0501d' 0 | tr 0 '(') }}" "brackets are nested too deeply"
wrong "deep nesting" "{{ $(printf '%0400d' 0 | tr 0 '-')1 }}" "the template is nested too deeply"
wrong "something else" "{{ 1 2 }}" "expected }}, found 2"
wrong "nothing more" "{{ 1 +" "the tag has no end"
wrong "an argument without a name" "{{ f(a=1, 2) }}" "an argument without a name stands behind one with a name"
wrong "break outside" "{% break %}" "break stands outside of a loop"
wrong "a block inside of a loop" "{% for x in y %}{% block a %}{% endblock %}{% endfor %}" 'a block inside of a loop, a macro or another block that is not "scoped" is not of the subset'
wrong "two blocks of a name" "{% block a %}{% endblock %}{% block a %}{% endblock %}" '1:37: error: there are two blocks "a"'
wrong "a precision alone" "{{ '{:.2}'.format(1.5) }}" "format: a precision needs a letter, as {:.2f}"
wrong "braces in braces" "{{ '{:{w}}'.format(1, w=5) }}" "format: braces in braces are not of the subset"
wrong "a filter that is not there" "{{ 'x' | wordwrap }}" 'there is no filter "wordwrap"'
wrong "call without a call" "{% call f %}{% endcall %}" "a call block calls a macro: expected its arguments"
wrong "an unknown filter is a warning first" "{{ 1|odd_filter }}" 'warning: there is no filter "odd_filter": a rendering that comes to it fails'
wrong "what a text cannot do" "{{ 'x'.encode() }}" 'a string has no attribute or method "encode"'
wrong "what is not in a dictionary" "{{ messages[0].calls[0].name }}" 'a dictionary has no attribute or method "calls"'
wrong "and then an error" "{{ 1|odd_filter }}" 'wrong.jinja: there is no filter "odd_filter"'
head -c 5000000 /dev/zero | tr '\0' x > "$WORK/wrong.jinja"
says "templates: a large file" 1 "a template of 5000000 bytes: at most 4194304 are read" "$BURIN" template "$WORK/wrong.jinja" --messages="$WORK/m.json"

# bad NAME MESSAGES MESSAGE
bad() {
    printf '%s' "$2" > "$WORK/bad.json"
    says "templates: messages: $1" 1 "$3" "$BURIN" template "$WORK/t.jinja" --messages="$WORK/bad.json"
}
bad "no JSON" "hello" 'bad.json: line 1, column 1: expected a value, found "hello"'
bad "cut" '[{"role": ' "line 1, column 11: expected a value, found its end"
bad "a string without end" '["x' "expected the end of a string"
bad "an escape" '["\q"]' "expected an escape of JSON"
bad "half an escape" '["\u12"]' "expected four hexadecimal digits"
bad "a number" '[01]' "expected a number"
bad "more" '[] []' 'expected its end, found "[]"'
bad "no comma" '[1 2]' "expected a comma or ]"
bad "no colon" '{"a" 1}' "expected a colon"
bad "no key" '{1: 2}' "expected a key"
bad "no brace" '{"a": 1 ' "expected a comma or }"
bad "a number alone" '5' 'expected a list of messages, or an object with "messages"'
bad "no messages" '{"tools": []}' '"messages" must be a list'
bad "nested" "$(printf '%02000d' 0 | tr 0 '[')" "line 1, column 1501: nested too deeply: at most 1500 values inside each other"

says "templates: messages: on standard input" 1 'standard input: line 1, column 1: expected a value, found its end' "$BURIN" template "$WORK/t.jinja" --messages=-
{ printf '\357\273\277' && cat "$WORK/o.json"; } > "$WORK/marked.json"
renders "a byte order mark" "<user>x" "$WORK/t.jinja" --messages="$WORK/marked.json"
bad "behind a byte order mark" "$(printf '\357\273\277[1 2]')" "line 1, column 4: expected a comma or ]"
bad "two byte order marks" "$(printf '\357\273\277\357\273\277[]')" "line 1, column 1: expected a value"

printf '%s' "{{ '5' | int(0, 1) }}{{ '5' | int(0, 37) }}{{ 'z' | int(7, 36) }}{{ 'x' | int(7, -2) }}{{ 1 ** 999999999999 }}" > "$WORK/bases.jinja"
renders "bases that int refuses" "553571" "$WORK/bases.jinja" --messages="$WORK/m.json"

# Hostile templates end, and soon: time, memory and depth have bounds.
hostile() {
    printf '%s' "$2" > "$WORK/hostile.jinja"
    says "templates: hostile: $1" 1 "$3" timeout 10 sh -c "ulimit -v 4000000; '$BURIN' template '$WORK/hostile.jinja' --messages='$WORK/m.json'"
}
[ "${BUILD##*/}" = san ] || {
    hostile "searches" "{% set s = 'x' * 1000000 %}{% for a in range(99999) %}{% if 'y' in s %}{% endif %}{% endfor %}" "hostile.jinja: this takes more than"
    hostile "loops" "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}" "rendering these messages takes more than"
    hostile "strings" "{% set ns = namespace(x='x') %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}" "rendering these messages takes more than"
    hostile "lists" "{% set ns = namespace(x=range(99999) | list) %}{% for a in range(9) %}{% set ns.x = ns.x + ns.x %}{% endfor %}" "rendering these messages takes more than"
    hostile "output" "{% for a in range(99999) %}{{ 'x' * 99999 }}{% endfor %}" "rendering these messages takes more than"
    hostile "macros" "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}" "nested too deeply"
    hostile "an object in itself" "{% set n = namespace() %}{% set n.n = n %}{{ n }}" "nested too deeply"
    work='hostile.jinja: this takes more than'
    each="{% set s = 'ab' * 1000000 %}{% set l = range(99999) %}{% for a in l %}{% set x ="
    for linear in "s.isalpha()" "s.isupper()" "s.isspace()" "s.strip('ab')" "(s ~ ' ').strip(' b')" "s.find('c')" "s.rfind('c')" "s.count('c')" \
        "s.startswith('a', 99999)" "s[99999]" "s[1:99999]" "s | wordcount" "s | length" "s == s + ''" "s.split('c')" "s | truncate(9)" "'c' in s" \
        "l | sum" "l | max" "l | select('none')" "l | reject('number')" "l | join" "l | map('abs')" "l.index(99998)" "l.count(1)" "8 in [l]" "-1 in l" \
        "strftime_now('%Y')" "'%.90f' % 1.5"; do
        hostile "$linear again and again" "$each $linear %}{% endfor %}" "$(case $linear in *' ~ '*|*upper*|*join*|*map*|*'[l]'|*90f*) echo "rendering these messages takes more than" ;; *) echo "$work" ;; esac)"
    done
    hostile "a fill of nothing" "{{ 'x'.ljust(9223372036854775807, '') }}" "what fills a width is one character"
    for wide in "'x'.ljust(9223372036854775807)" "'x'.rjust(9 ** 15)" "'x'.zfill(9 ** 15)" "'x' | center(9 ** 15)" "'x' | indent(9 ** 15, true)" "[1] | tojson(indent=9 ** 15)"; do
        hostile "$wide" "{{ $wide }}" "rendering these messages takes more than"
    done
    hostile "many variables" "$(i=0; while [ $i -lt 4000 ]; do printf '{%% set v%d = 1 %%}' $i; i=$((i + 1)); done){% for a in range(99999) %}{% for b in range(9) %}{% set x = v0 %}{% endfor %}{% endfor %}" "hostile.jinja: "
    hostile "widths" "{{ '%999999999d' % 1 }}{{ 'x' * 999999999999 }}" "a format that is not understood"
    hostile "powers" "{{ 10 ** 99999999999 }}" "a number is too large"
}
says "template: messages without end" 1 "standard input: more than 64 MB of messages" sh -c "yes '[1,' | $BURIN template '$WORK/t.jinja' --messages -"

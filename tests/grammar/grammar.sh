#!/bin/sh
# Grammars and JSON schemas: accepted and rejected texts, byte by byte and forced token by token, every mask; grammars that are refused, and hostile
# ones; texts of a program.
. tests/lib.sh
tokenizer=examples/austen/tokenizer.json
for grammar in tests/grammar/gbnf/*.gbnf; do
    check "grammar: $(basename "$grammar" .gbnf)" "$BUILD/tools/grammar" gbnf "$grammar" "${grammar%.gbnf}.json" $tokenizer
done
check "grammar: masks of random grammars" "$BUILD/tools/grammar" random 0 150 tests/grammar/vocabulary.json
"$BUILD/tools/grammar" bad tests/grammar/bad.json > "$WORK/bad"
same "grammar: what is refused, and where" tests/grammar/bad.txt "$WORK/bad"
for cases in tests/grammar/schemas/*.json; do
    check "schema: $(basename "$cases" .json)" "$BUILD/tools/grammar" schema "$cases" $tokenizer
done
check "schema: keywords, exact numbers" "$BUILD/tools/grammar" list tests/grammar/keywords.json
for cases in tests/grammar/tools/*.json; do
    check "tools: $(basename "$cases" .json)" "$BUILD/tools/grammar" tools "$cases" $tokenizer
done
"$BUILD/tools/grammar" schemas tests/grammar/bad_schemas.json > "$WORK/bad"
same "schema: what is refused, and where" tests/grammar/bad_schemas.txt "$WORK/bad"

# Calls in an answer, as OpenAI's API prints them: a call that is cut is none
calls() { "$BUILD/tools/tool_calls" "$@" >> "$WORK/calls"; }
calls '<tool_call>' "$(printf 'Hm.\n<tool_call>\n{"name": "f", "arguments": {"a": "}]\\"x", "b": [1, {"c": null}]}}\n</tool_call>\n<tool_call>\n{"name":"g","arguments":{}}\n</tool_call>')"
calls '{"name": x, "parameters": y} ipython' '{"name": "f", "parameters": {"a": 1}}'
calls '[TOOL_CALLS]' 'So: [TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}, "id": "x"}, {"name": "g", "arguments": {}}]'
calls '[TOOL_CALLS] [ARGS]' '[TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{}'
calls '[func_name1(' '[f(a="x, )\"y", b=True, c=[1, 2]), g()]'
calls '<|channel|>commentary' '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}'
calls '<tool_call>' '<tool_call>{"name": "f", "argu'
calls '<tool_call>' 'No "call".'
calls '<tool_call><function=<parameter=' '<tool_call><function=f><parameter=a>1</parameter></function></tool_call> and <tool_call><function=g><para'
calls '<tool_call>' '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call><tool_call>{"name": "g", "arguments": {"a": </tool_call>'
calls tests/grammar/templates/braced.jinja 'So.<|tool_call>call:f{a:<|"|>x "}] <b<|"|>,b:-2.5e3,c:[1,{k:<|"|><|"|>}],d:{},e:None,g:true}<tool_call|><|tool_call>call:g{}<tool_call|>'
calls tests/grammar/templates/braced.jinja '<|tool_call>call:f{a:<|"|>x'
calls tests/grammar/templates/braced.jinja '<|tool_call>call:f{a:1.2.3}<tool_call|>'
calls tests/grammar/templates/braced.jinja '<|tool_call>call:f{a:[1,}<tool_call|><|tool_call>call:g{a:false}<tool_call|> end'
calls tests/grammar/templates/braced.jinja '<|tool_call>call:f{a:1,b}<tool_call|>'
calls '<|tool_call|> followed by a JSON list' 'Hm. <|tool_call|>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
calls '<|tool_call|> followed by a JSON list' '<|tool_call|>[{"name": "f", "arg'
same "tools: calls in answers" tests/grammar/calls.txt "$WORK/calls"
parameters() { seq "$1" | sed 's/.*/"p&": {"type": "integer"}/' | paste -sd ,; }
for form in '[func_name1(' tests/grammar/templates/braced.jinja; do
    says "tools: many parameters in any order: $form" 1 "a tool has 513 parameters, at most 512" "$BUILD/tools/tool_calls" "$form" x \
        "{\"messages\": [], \"tools\": [{\"name\": \"f\", \"parameters\": {\"properties\": {$(parameters 513)}}}]}"
done

# Templates show the syntax of calls: the syntax of each, and its own rendering of calls read back.
"$BUILD/tools/tool_syntax" tests/grammar/templates/*.jinja > "$WORK/shapes"
same "tools: what templates show of calls" tests/grammar/shapes.txt "$WORK/shapes"
tools='[{"name": "look", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "to": {"type": ["string", "null"]}, "on": {"type": "boolean"}}}}, {"name": "draw", "parameters": {"type": "object", "properties": {"points": {"type": "array"}, "title": {"type": "string"}}}}]'
first='{"city": "Zürich: \"<a b>\"", "days": 2, "to": null, "on": true}' second='{"points": [1, {"x": [2.5]}], "title": "7"}'
quoted() { printf '%s' "$1" | sed 's/[\\"]/\\&/g; s/^/"/; s/$/"/'; }
for template in tests/grammar/templates/*.jinja; do
    name=$(basename "$template" .jinja)
    a=$first b=$second said='"So."'
    [ "$name" != fenced ] || { a=$(quoted "$first") b=$(quoted "$second") said=null; }
    second_call=", {\"type\": \"function\", \"id\": \"functions.draw:1\", \"function\": {\"name\": \"draw\", \"arguments\": $b}}"
    calls=2
    [ "$name" != function ] || { second_call= calls=1; }
    printf '{"tools": %s, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": %s, "tool_calls": [{"type": "function", "id": "functions.look:0", "function": {"name": "look", "arguments": %s}}%s]}]}' \
        "$tools" "$said" "$a" "$second_call" > "$WORK/m.json"
    "$BURIN" template "$template" --messages "$WORK/m.json" > "$WORK/answer"
    "$BUILD/tools/tool_calls" "$template" "$(cat "$WORK/answer")" "$(cat "$WORK/m.json")" > "$WORK/got"
    check "tools: reads the calls of $name" grep -q "^$calls \"" "$WORK/got"
    printf '%s%s' "$(quoted "$first")" "$([ $calls = 1 ] || quoted "$second")" > "$WORK/expected"
    sed -n 's/.*"arguments": \("{.*}"\)}}, {"id".*"arguments": \("{.*}"\)}}]$/\1\2/p; t; s/.*"arguments": \("{.*}"\)}}]$/\1/p' "$WORK/got" | tr -d '\n' > "$WORK/read"
    same "tools: their arguments, by the types of $name's tools" "$WORK/expected" "$WORK/read"
done

# A byte order mark; alternatives that continue in later lines.
printf '\357\273\277# a comment\nroot ::= "a"\n    # one\n  | "c"\n\n  | other\nother ::= "d"\n' > "$WORK/lines.gbnf"
echo '{"accepted": ["a", "c", "d"], "rejected": [{"text": "b", "at": 0}]}' > "$WORK/lines.json"
check "grammar: alternatives line by line" "$BUILD/tools/grammar" gbnf "$WORK/lines.gbnf" "$WORK/lines.json"
printf 'root ::= "a" !"b"\n' > "$WORK/not.gbnf"
says "grammar: a text is no token" 1 'expected a token, as <[123]> or <text>' "$BUILD/tools/grammar" gbnf "$WORK/not.gbnf" "$WORK/lines.json"
printf 'root ::= <[1>\n' > "$WORK/not.gbnf"
says "grammar: half an id" 1 "expected ]> at the end of a token's id" "$BUILD/tools/grammar" gbnf "$WORK/not.gbnf" "$WORK/lines.json"
printf 'root ::= <a\n' > "$WORK/not.gbnf"
says "grammar: half a token" 1 'expected > at the end of a token' "$BUILD/tools/grammar" gbnf "$WORK/not.gbnf" "$WORK/lines.json"

# Work has a budget: repetitions of nothing are nothing; grammars that are too deep or too long are
# refused at once.
# spends NAME GRAMMAR MESSAGE
spends() {
    printf '%s\n' "$2" > "$WORK/spent.gbnf"
    says "grammar: $1" 1 "$3" timeout 10 "$BUILD/tools/grammar" gbnf "$WORK/spent.gbnf" "$WORK/a.json"
}
chain() { printf "%0$1d" 0 | sed "s/0/$2/g"; }
echo '{"accepted": ["a"], "rejected": [{"text": "b", "at": 0}]}' > "$WORK/a.json"
for nothing in "\"\"$(chain 60 '{2}')" "(\"\" | (\"b\"){0} | \"\"?)$(chain 60 '{1000}')" "(\"\"+ \"\"*)$(chain 900 '*')"; do
    echo "root ::= $nothing \"a\"" > "$WORK/nothing.gbnf"
    check "grammar: nothing, again and again: $(echo "$nothing" | cut -c1-30)" timeout 10 "$BUILD/tools/grammar" gbnf "$WORK/nothing.gbnf" "$WORK/a.json"
done
[ "${BUILD##*/}" = san ] || {
    spends "doubled 60 times" "root ::= (\"a\"?)$(chain 60 '{2}')" "spent.gbnf: line 1, column 1: this takes more than 33554432 steps"
    for op in '?' '*' '+' '{2}'; do
        spends "100000 groups in each other, each $op" "root ::= $(chain 100000 '(')\"a\"$(chain 100000 ")$op")" "spent.gbnf: line 1, column 210: nested too deeply: more than 200 levels"
        spends "100000 times $op" "root ::= \"a\"$(chain 100000 "$op")" "nested too deeply: more than 1000 repetitions in each other"
    done
    shuffled='BEGIN { srand(1); n = 16000; for (i = 0; i < n; i++) at[i] = i; for (i = n - 1; i; i--) { k = int(rand() * (i + 1)); t = at[i]; at[i] = at[k]; at[k] = t }
        for (i = 0; i < n; i++) follows[at[i]] = i + 1 < n ? "r" at[i + 1] : "\"x\""; print "root ::= r" at[0]; for (i = 0; i < n; i++) print "r" i " ::= " follows[i] }'
    spends "a chain of rules in a bad order" "$(awk "$shuffled")" "this takes more than 33554432 steps"
}

# A range of characters: both ends, and characters beyond them, for lengths of one to four bytes
printf 'root ::= [\\u007e-\\u0082] | [\\u07fd-\\u0802] | [\\ud7fd-\\ue002] | [\\ufffd-\\U00010002] | [\\U0003ffff-\\U00040000]\n' > "$WORK/range.gbnf"
sed 's/\\ud7fd-\\ue002/\\ud7fd-\\ud7ff\\ue000-\\ue002/' "$WORK/range.gbnf" > "$WORK/ranges.gbnf"
printf '{"accepted": ["~", "\\u007f", "\\u0082", "\\u07fd", "\\u0800", "\\u0802", "\\ud7ff", "\\ue000", "\\ue002", "\\uffff", "\\ud800\\udc02", "\\ud8bf\\udfff", "\\ud8c0\\udc00"],
 "rejected": [{"text": "}", "at": 0}, {"text": "\\u0083", "at": 0}, {"text": "\\u07fc", "at": 0}, {"text": "\\u0803", "at": 0}, {"text": "\\ud7fc", "at": 0},
 {"text": "\\ue003", "at": 0}, {"text": "\\ufffc", "at": 0}, {"text": "\\ud800\\udc03", "at": 0}, {"text": "\\ud8bf\\udffe", "at": 0}, {"text": "\\ud8c0\\udc01", "at": 0}]}' > "$WORK/range.json"
check "grammar: ranges of characters" "$BUILD/tools/grammar" gbnf "$WORK/ranges.gbnf" "$WORK/range.json"

unsanitized "grammar: a program"
need "grammar: austen as a program" examples/austen/model.safetensors
check "grammar: builds" "$BURIN" build examples/austen -o "$WORK/austen"
austen=$WORK/austen
[ -x "$austen" ] || exit 1

for seed in 1 2 3 4 5 6; do
    for temperature in 0.1 0.8 3; do "$austen" "They said" --grammar tests/grammar/gbnf/09-stamps.gbnf -n 60 --seed $seed --temp $temperature; done
done > "$WORK/stamps"
check "grammar: stamps, all of them" test "$(grep -cE '^[0-9]{4}-[0-9]{2}-[0-9]{2}' "$WORK/stamps")" = 18
printf 'root ::= a\n' > "$WORK/one.gbnf"
rules='root ::= " yes" | " no" | " perhaps"'
for seed in 1 2 3 4 5 6 7 8; do "$austen" "He said" --grammar "$rules" --seed $seed --temp 5 --min-p 0 --top-p 1; done | sort | uniq -c > "$WORK/said"
check "grammar: alternatives" test "$(grep -cvE ' (yes|no|perhaps)$' "$WORK/said")" = 0 -a "$(wc -l < "$WORK/said")" -ge 2
"$austen" "He said" --grammar "$rules" --json --seed 2 > "$WORK/json"
check "grammar: the end of the grammar ends the text" grep -q '"finish_reason": "stop"' "$WORK/json"
check "grammar: a text that fits is the one without" test "$("$austen" "It was" -n 12 --temp 0 --grammar 'root ::= [^#]*')" = "$("$austen" "It was" -n 12 --temp 0)"
check "grammar: the same on other threads" test "$("$austen" x -n 30 --seed 5 --grammar 'root ::= ([a-z]{2,5} " ")+' -t 1)" = \
    "$("$austen" x -n 30 --seed 5 --grammar 'root ::= ([a-z]{2,5} " ")+' -t 3)"
refers() { "$austen" "It was" --temp 0 -n 9 --json --grammar "$1" | sed 's/.*"text": "\([^"]*\)".*/\1/'; }
check "grammar: tokens by their ids" test "$(refers 'root ::= <[282]> <[306]> "!"')" = " he was!"
check "grammar: tokens by their texts" test "$(refers 'root ::= " he" <s> ("!" | <[306]>){3}' | tr -d '!')" != ""
check "grammar: any token but one" test "$(refers 'root ::= !<[282]> " he"' | sed 's/ he$//')" != " he"
check "grammar: a token or its text" test "$(refers 'root ::= (<[282]> | " h" "e") " was"')" = " he was"
says "grammar: no such token" 1 "--grammar: the grammar refers to <nothing>, which is no token of this model" "$austen" x --grammar 'root ::= <nothing>'
says "grammar: no such id" 1 "the grammar refers to token 999999, which this model does not have" "$austen" x --grammar 'root ::= <[999999]>'
check "grammar: each source of many bytes" test "$("$austen" x -n 20 --temp 2 --seed 1 --grammar 'root ::= [あ-ん]{3}')" != ""
check "grammar: builds numbers" "$BURIN" build examples/numbers -o "$WORK/numbers"
check "grammar: the first word, which loses its space" test "$("$WORK/numbers" siebzehn --grammar 'root ::= "seventeen" | "sixteen"')" = seventeen
says "grammar: no token fits" 1 "no token of the vocabulary goes on as the grammar wants" "$WORK/numbers" siebzehn --grammar 'root ::= "é"'
check "grammar: with ids" sh -c "'$austen' --tokens 0,5 -n 9 --grammar '$rules' | grep -qE '^[0-9,]+\$'"

check "schema: an object" sh -c "'$austen' x --json-object -n 200 --seed 3 | grep -q '^{'"
person='{"type": "object", "properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"}, "age": {"type": "integer", "minimum": 18, "maximum": 99}},
 "required": ["name", "age"], "additionalProperties": false}'
echo "$person" > "$WORK/person.json"
for seed in 1 2 3 4 5 6; do "$austen" "She was" -j "$WORK/person.json" -n 200 --seed $seed --temp 2; done > "$WORK/persons"
# white space is free: without it
tr -d '\r\n\t ' < "$WORK/persons" | sed 's/}{/}\n{/g' | grep -cE '^\{"name":"[A-Z][a-z]{2,8}","age":(1[89]|[2-9][0-9])\}$' > "$WORK/count"
check "schema: six persons" test "$(cat "$WORK/count")" = 6
check "schema: as a text" test "$("$austen" "She was" --json-schema "$person" -n 200 --seed 1 --temp 2)" = "$("$austen" "She was" -j "$WORK/person.json" -n 200 --seed 1 --temp 2)"
says "schema: a mistake in JSON" 1 "--json-schema: line 1, column 10: expected a value" "$austen" x --json-schema '{"type": x}'
says "schema: a mistake in a file" 1 "one.gbnf: line 1, column 1: expected a value" "$austen" x --json-schema "$WORK/one.gbnf"
for bound in minimum maximum exclusiveMinimum exclusiveMaximum; do
    for number in NaN Infinity -Infinity 1e999; do
        says "schema: $bound $number" 1 "--json-schema: #: $bound must be a finite number" "$austen" x --json-schema "{\"type\": \"integer\", \"$bound\": $number}"
    done
done
says "schema: itself" 1 "--json-schema, as a grammar: line" "$austen" x --json-schema '{"$ref": "#"}'
says "schema: two forms" 2 "more than one form of the text" "$austen" x --json-object --grammar 'root ::= "a"'

says "grammar: no such file" 1 "none.gbnf" "$austen" x --grammar "$WORK/none.gbnf"
says "grammar: a place in a text" 1 "--grammar: line 2, column 7: there is no rule b" "$austen" x --grammar "root ::= a
a ::= b"
says "grammar: a place in a file" 1 "one.gbnf: line 1, column 10: there is no rule a" "$austen" x --grammar-file "$WORK/one.gbnf"
awk 'BEGIN { printf "root ::= "; for (i = 0; i < 300; i++) printf "("; printf "\"a\""; for (i = 0; i < 300; i++) printf ")"; print "" }' > "$WORK/deep.gbnf"
says "grammar: deep" 1 "nested too deeply: more than 200 levels" "$austen" x --grammar "$WORK/deep.gbnf"
awk 'BEGIN { print "root ::= \"a\""; for (i = 0; i < 20000; i++) print "r" i " ::= \"a\"" }' > "$WORK/wide.gbnf"
says "grammar: wide" 1 "more than 16384 rules" "$austen" x --grammar "$WORK/wide.gbnf"
awk 'BEGIN { print "root ::= r0"; for (i = 0; i < 8000; i++) print "r" i " ::= r" i + 1 " | \"x\""; print "r8000 ::= \"x\"" }' > "$WORK/chain.gbnf"
check "grammar: a long chain of calls" test "$("$austen" a --grammar "$WORK/chain.gbnf")" = x
check "grammar: copies of what may be empty" timeout 20 "$austen" a -n 5 --grammar 'root ::= ((x?){0,5000}){0,50} "!"
x ::= [a-z]?'
a=$("$austen" --tokenize a | cut -d, -f2)
says "grammar: too many readings" 1 "in more than 8192 ways at once" "$austen" x --temp 0 -n 40 -l "$a+1000" --grammar 'root ::= x
x ::= "a" x "b" | "a" x "c" | "a"'
check "grammar: deep recursion, for long" timeout 20 "$austen" x --temp 0 -n 400 -l "$a+1000" --grammar 'root ::= "a" root "b" | "a"'

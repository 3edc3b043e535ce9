#!/bin/sh
# `burin help`: topics, and the tables of commands and options as completion for shells and as a manual page.
. tests/lib.sh
for topic in formats targets passes numeric-contract sampling; do
    says "help: lists $topic" 0 "  $topic " $BURIN help
    check "help: $topic" sh -c "[ \$($BURIN help $topic | wc -l) -ge 5 ]"
done
says "help: two words are a topic" 0 "fused multiply-adds" $BURIN help numeric contract
says "help: a command" 0 "usage: burin build MODEL" $BURIN help build
says "help: formats has the table" 0 "q4_k " $BURIN help formats

# completes NAME EXPECTED WORDS...: what bash would offer for the last word
cat > "$WORK/complete.bash" << 'END'
. "$1" && shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
compopt() { :; }
_burin
echo "${COMPREPLY[*]}"
END
$BURIN help bash > "$WORK/burin.bash"
completes() {
    _name=$1 _expected=$2
    shift 2
    says "completion: $_name" 0 "$_expected" bash "$WORK/complete.bash" "$WORK/burin.bash" "$@"
}
completes "a command" "inspect" burin ins
completes "an option of it" "--bisect" burin check m --bis
completes "one with a value" "--against=" burin check m --ag
completes "values" "ir c" burin build m --emit = ""
completes "passes" "recognise" burin build m --stop-after = recog
completes "topics" "numeric-contract" burin help num
says "completion: not of other commands" 0 "" bash "$WORK/complete.bash" "$WORK/burin.bash" burin build m --bisec
check "completion: not of other commands" [ ! -s "$WORK/says" -o "$(cat "$WORK/says")" = "" ]

# No line is wider than a terminal of 80 columns.
narrow() { check "help: $1: at most 80 columns" sh -c '! grep ".\{81\}" "$1"' - "$WORK/wide"; }
$BURIN help > "$WORK/wide" && narrow overview
for name in build run serve check inspect report explain diff plan bench template tokenize numeric-contract sampling; do
    $BURIN help "$name"
done | grep -v '^  burin ' > "$WORK/wide"
narrow "commands and topics"

# Every option of every command is in all three.
$BURIN help zsh > "$WORK/_burin" && $BURIN help man > "$WORK/burin.1"
for option in $(sed -n 's/^OPTION([a-z_]*, [A-Z]*, "\([a-z-]*\)".*/\1/p' compiler/cli/options.def); do
    spelled=$(echo "$option" | sed 's/-/\\\\-/g')
    for file in burin.bash _burin; do
        grep -q -- "--$option[= []" "$WORK/$file" || not_ok "help: --$option is missing in $file"
    done
    grep -q -- "-.-$spelled.fR" "$WORK/burin.1" || not_ok "help: --$option is missing in the manual"
done
check "help: bash reads its completion" bash -n "$WORK/burin.bash"
if command -v zsh > /dev/null; then
    printf '%s\n' 'burin inspect ' 'burin check m --bisect ' 'burin check m --against=' 'burin build m --stop-after=recognise ' \
        'burin help numeric-contract ' 'burin build m --bisec' > "$WORK/expected"
    timeout 60 zsh -f tests/tools/complete.zsh "$WORK" 'burin ins' 'burin check m --bis' 'burin check m --ag' \
        'burin build m --stop-after=recog' 'burin help num' 'burin build m --bisec' > "$WORK/completed"
    same "completion: what zsh makes of lines" "$WORK/expected" "$WORK/completed"
else skip "completion: what zsh makes of lines" "no zsh: apt-get install zsh"; fi
if command -v groff > /dev/null; then
    groff -man -ww -z -Tutf8 "$WORK/burin.1" > "$WORK/groff" 2>&1
    check "help: groff reads the manual without a warning" [ ! -s "$WORK/groff" ]
fi

# Blocks of descriptions: every one with its signature; where there is a comment and a use, with both.
$BURIN help std > "$WORK/std"
cat dsl/std/*.burin | sed -n 's/^block \([a-z_0-9A-Z]*(\).*/    \1/p' | sort > "$WORK/expected"
sed -n 's/^\(    [a-z_0-9A-Z]*(\).*/\1/p' "$WORK/std" | sort > "$WORK/got"
same "help: std: every block" "$WORK/expected" "$WORK/got"
check "help: std: a comment, and a use" sh -c "grep -A 4 '^    softcap(x, cap)\$' '$WORK/std' | grep -q 'keeps x within -cap and cap' && grep -A 2 '^    softcap(' '$WORK/std' | grep -q 'softcap(x, final_logit'"

# Syntax files: every word and number type of the language is in both; JSON is JSON; vim colours a line without an error.
for word in $(sed -n 's/^"\([a-z]*\)" .*TOKEN(.*/\1/p' dsl/scan.l); do
    for file in burin.tmLanguage.json burin.vim; do
        grep -qw -- "$word" "dsl/syntax/$file" || not_ok "help: $word is missing in dsl/syntax/$file"
    done
done
for file in burin ir; do
    check "help: syntax of .$file is JSON" [ "$("$BUILD/tools/json_at" dsl/syntax/$file.tmLanguage.json fileTypes.0)" = $file ]
done
if command -v vim > /dev/null; then
    colour() { vim -es -u NONE -N "$1" -c 'syntax on' -c 'syntax clear' -c 'unlet! b:current_syntax' -c "source dsl/syntax/$2.vim" -c "let x = synIDattr(synID($3, $4, 1), 'name')" -c "call writefile([x], '$WORK/colour')" -c 'qa!' < /dev/null > /dev/null 2>&1; cat "$WORK/colour"; }
    check "help: vim: a keyword, a call" test "$(colour dsl/models/llama.burin burin 3 1) $(colour dsl/models/llama.burin burin 4 1) $(colour dsl/models/llama.burin burin 13 13)" = "burinKeyword burinKeyword burinCall"
    $BURIN inspect examples/austen --stop-after=fuse > "$WORK/austen.ir" 2> /dev/null
    check "help: vim: a value, an op" test "$(colour "$WORK/austen.ir" ir 2 3) $(colour "$WORK/austen.ir" ir 2 27)" = "irValue irOp"
else skip "help: vim" "no vim: apt-get install vim"; fi

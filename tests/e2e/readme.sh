#!/bin/sh
# What the README shows of the IR, of the emitted C and of a message is what burin prints, and its counts are what is there.
. tests/lib.sh

# quoted NAME FILE: each line of the README behind "printed by NAME" stands in the file, locations and margins aside
quoted() {
    awk -v name="$1" '$0 == "<!-- printed by " name " -->" { on = 1; next } /^<!-- end/ { on = 0 } on' README.md | sed 's/^ *//' > "$WORK/quoted"
    sed 's/ @.*//; s/^ *//' "$2" > "$WORK/printed"
    grep -vxFf "$WORK/printed" "$WORK/quoted" > "$WORK/stale"
    if [ -s "$WORK/quoted" ] && [ ! -s "$WORK/stale" ]; then ok "readme: $1"; else
        not_ok "readme: $1"
        sed 's/^/# not printed: /' "$WORK/stale"
    fi
}

$BURIN inspect examples/austen --stop-after=layout > "$WORK/ir"
quoted "burin inspect" "$WORK/ir"
$BURIN build examples/austen --emit=c > "$WORK/c"
quoted "burin build --emit=c" "$WORK/c"
cp -R examples/austen "$WORK/wrong"
sed 's/"num_key_value_heads": 2/"num_key_value_heads": 3/' examples/austen/config.json > "$WORK/wrong/config.json"
$BURIN build "$WORK/wrong" -o "$WORK/none" > "$WORK/message" 2>&1
quoted "a wrong config.json" "$WORK/message"

# counts NAME TEXT: the README has this text
counts() { check "readme: $1: $2" grep -qF -- "$2" README.md; }
with_comma() { echo "$1" | sed 's/\(.*\)\(...\)$/\1,\2/'; }
passes() { with_comma "$(sed -n "s/^$1: \([0-9]*\) of .*/\1/p" tests/conformance/EXPECTED.md)"; }
counts "conformance" "$(passes Interpreted) pass in the interpreter and $(passes Compiled) as compiled C"

# at_least NAME NUMBER TEXT: the README says `more than N TEXT`, which NUMBER is: adding one need not change it
at_least() {
    _said=$(sed -n "s|.*more than \([0-9]*\) $3.*|\1|p" README.md)
    check "readme: $1: more than ${_said:-?} $3" [ "$2" -gt "${_said:-$2}" ]
}
at_least "families" "$(grep -c '^| .*e-[0-9]* |$' dsl/FAMILIES.md)" "families of models"
at_least "GGUF" "$(find dsl/gguf -maxdepth 1 -type f | wc -l)" "architectures, \`ls dsl/gguf\`"

# Where nothing is built yet, the examples begin with the compiler.
mkdir "$WORK/fresh"
cp -rs "$PWD/examples" "$WORK/fresh/examples"
printf 'build/burin:\n\t@echo the compiler\n' > "$WORK/fresh/Makefile"
for example in digits embed numbers boards; do
    says "readme: make -C examples/$example run, in a fresh clone" 0 "echo the compiler" make -n -C "$WORK/fresh/examples/$example" run
done

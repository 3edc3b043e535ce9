#!/bin/sh
# Compares the blocks that README.md quotes (demo, IR, emitted C) with real output, and checks links and tables of all pages.
. tests/lib.sh

# quoted NAME FILE [FILTER]: every line of the README's block NAME is in the file, apart from locations and margins
quoted() {
    awk -v name="$1" '$0 == "<!-- printed by " name " -->" { on = 1; next } /^<!-- end/ { on = 0 } on' README.md |
        sed 's/^ *//' | ${3:-cat} > "$WORK/quoted"
    sed 's/ @.*//; s/^ *//' "$2" | ${3:-cat} > "$WORK/printed"
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
# The demo's numbers differ from machine to machine, so each becomes N.
masked() { sed 's/[0-9][0-9.]*/N/g'; }
examples/austen/demo.sh > "$WORK/demo" 2>&1
quoted "make demo" "$WORK/demo" masked

check "readme: at most 700 words" test "$(wc -w < README.md)" -le 700

# Every page: links lead somewhere, rows of tables have at most 160 characters.
git ls-files '*.md' ':!tests/conformance/EXPECTED.md' > "$WORK/pages" 2> /dev/null || find . -name '*.md' ! -path './build/*' ! -name EXPECTED.md > "$WORK/pages"
while read -r page; do
    grep -o '](\([^)#:]*\)[)#]' "$page" | sed 's/^](//; s/[)#]$//' | while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
    done
    awk -v page="$page" '/^\|/ && length($0) > 160 { print page ": line " NR " has " length($0) " characters" }' "$page"
done < "$WORK/pages" > "$WORK/stale"
: > "$WORK/none"
same "readme: links and tables of every page" "$WORK/none" "$WORK/stale"

# Every source file of compiler/ and runtime/ is in a table or a bold word of a list, in the README.md of its folder or of one above.
find compiler runtime -name README.md > "$WORK/pages"
find compiler runtime -name '*.[chly]' -o -name '*.def' -o -name '*.py' -o -name '*.js' -o -name '*.proto' -o -name '*.awk' > "$WORK/sources"
awk -v pages="$WORK/pages" 'BEGIN {
        while ((getline page < pages) > 0) {
            folder = page; sub("/README.md$", "", folder)
            while ((getline line < page) > 0) {
                if (line !~ /^(\||\* \*\*)/) { continue }
                if (line ~ /^\|/) { split(line, cell, "|") } else { split(line, cell, "[*][*]") }
                n = split(cell[2], word, /[^A-Za-z0-9_]+/)
                for (i = 1; i <= n; i++) { named[folder, word[i]] }
            }
        }
    }
    {
        folder = name = $0
        sub(".*/", "", name); sub("[.].*", "", name)
        while (sub("/[^/]*$", "", folder)) { if ((folder, name) in named) { next } }
        print $0 ": no README.md names it"
    }' "$WORK/sources" | sort > "$WORK/stale"
same "readme: every source file is named" "$WORK/none" "$WORK/stale"

# Where nothing is built yet, the examples begin with the compiler.
mkdir "$WORK/fresh"
cp -rs "$PWD/examples" "$WORK/fresh/examples"
printf 'build/burin:\n\t@echo the compiler\n' > "$WORK/fresh/Makefile"
for example in digits embed numbers boards; do
    says "readme: make -C examples/$example run, in a fresh clone" 0 "echo the compiler" make -n -C "$WORK/fresh/examples/$example" run
done

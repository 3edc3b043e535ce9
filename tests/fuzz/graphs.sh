#!/bin/sh
# Random small graphs of all ops (tools/random_graphs.c): passes keep their values, clang compiles
# the C, and the program has the interpreter's bits. Graphs that burin refuses to lower are counted
# apart. slow-graphs.sh takes COUNT=2000.
. tests/lib.sh
. tests/lib_conformance.sh
need "graphs" "$BUILD/tools/random_graphs"
unsanitized "graphs"
first=${FIRST:-1} count=${COUNT:-40}

# The programs of a part are one, in a folder of its own: a compiler cache takes a second header of the same name for the first.
part() {
    graphs=$WORK/graphs.$1
    emit_and_compile "$graphs" "$BUILD/tools/random_graphs" "$graphs" "$1" "$2"
    compiled_results "$graphs" > "$graphs/table"
    awk -F '\t' '$3 != "pass" && $3 !~ /no code is generated/ { print $1 }' "$graphs/table" |
        while read -r name; do
            echo "# $name"
            sed 's/^/# /' "$graphs/$name.ir"
            grep -A 3 "/$name[._].*error: " "$graphs/refused" | sed 's/^/# /'
        done
    cat "$graphs/table" >> "$WORK/results"
    rm -r "$graphs"
}

at=$first
while [ $at -lt $((first + count)) ]; do
    some=$((first + count - at))
    [ $some -le 200 ] || some=200
    part $at $some
    at=$((at + some))
done
results() { grep -c "$1" "$WORK/results"; }
passed=$(results '	pass$') refused=$(results 'no code is generated')
awk -F '\t' '$3 != "pass" && $3 !~ /no code is generated/ { print "not ok - graphs: " $1 ": " $3 }' "$WORK/results"
check "graphs: each of $count has a result" test "$(wc -l < "$WORK/results")" -eq "$count"
check "graphs: $passed right, $refused refused of $count" test "$passed" -ge $((count * 7 / 10))

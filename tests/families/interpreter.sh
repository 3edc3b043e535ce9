#!/bin/sh
# Every family against transformers, in the interpreter. The table of dsl/FAMILIES.md is what ran here: `make families` writes
# it anew.
. tests/lib.sh
. tests/lib_families.sh
"$BUILD/tools/family" "$models"/* > "$WORK/results" 2> "$WORK/messages"
cat "$WORK/results"
sed 's/^/# /' "$WORK/messages"

# One row a description that ran: its name, its first line, and the largest difference of all its models.
{
    "$BURIN" models
    cat "$WORK/results"
} | awk '/^[a-z]/ && !/^(ok|not ok) / { what[$1] = substr($0, 24); order[++n] = $1 }
    /^ok / { passed = 1 }
    /^not ok / { passed = 0 }
    /^# / && passed { name = $2; sub(/.*\//, "", name); sub(/\.burin:$/, "", name); runs[name]++; if ($NF + 0 > worst[name] + 0) worst[name] = $NF }
    END {
        print "| family | | models | difference |\n|---|---|---|---|"
        for (i = 1; i <= n; i++) if (runs[order[i]]) printf "| %s | %s | %d | %s |\n", order[i], what[order[i]], runs[order[i]], worst[order[i]]
    }' > "$BUILD/families.md"
[ -d "$SHARED/data/families" ] || { skip "families: the table" "$SHARED/data/families is missing" && exit 0; }
awk '/^<!-- families -->/ { inside = 1; next } /^<!-- end of families -->/ { inside = 0 } inside' dsl/FAMILIES.md > "$WORK/table"
same "families: the table is of this run (make families)" "$BUILD/families.md" "$WORK/table"

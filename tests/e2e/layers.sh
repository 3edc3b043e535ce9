#!/bin/sh
# The compiler's folders form layers: a file includes its own and lower ones, never one above.
# Codegen reads kernels alone: the C text is printed without the graph's nodes.
. tests/lib.sh
layers="util ir target frontend passes lower codegen cli toolchain build output debug commands report"

# below A B: true if folder A is below folder B
below() { case " $layers " in *" $1 "*" $2 "*) return 0 ;; *) return 1 ;; esac }

upward() {
    for _file in "$1"/*.h "$1"/*/*.[ch] "$1"/*/*/*.[ch] "$1"/*/*/*/*.[ch]; do
        [ -e "$_file" ] || continue
        _folder=${_file#"$1"/}
        case $_folder in */*) _folder=${_folder%%/*} ;; *) _folder=ir ;; esac
        sed -n 's,^#include "\([a-z]*\)/.*,\1,p' "$_file" | sort -u | while read -r _included; do
            ! below "$_folder" "$_included" || echo "$_file includes $_included/"
        done
    done
}

for folder in compiler/*/; do
    folder=${folder#compiler/}
    case " $layers " in *" ${folder%/} "*) ;; *) echo "compiler/$folder has no place among the layers" ;; esac
done > "$WORK/unknown"
same "layers: every folder has its place" /dev/null "$WORK/unknown"
upward compiler > "$WORK/upward"
same "layers: no file includes a folder above its own" /dev/null "$WORK/upward"

# The runtime's rooms in the same way; nothing includes mpi, editor, server, api, codecs, library and windows.
rooms="base kernels template tokenizer engine sampler grammar program measure text bench network sound image voice chat main"
for file in runtime/*/*.[ch]; do
    room=${file#runtime/} && room=${room%%/*}
    case " $rooms " in *" $room "*) ;; *) continue ;; esac
    sed -n 's,^#include "\([a-z]*\)/.*,\1,p' "$file" | sort -u | while read -r included; do
        case " $rooms " in *" $room "*" $included "*) echo "$file includes $included/" ;; *" $included "*) ;; *) echo "$file includes $included/, which is apart" ;; esac
    done
done > "$WORK/upward"
same "layers: no file of the runtime includes a room above its own" /dev/null "$WORK/upward"

# Rooms within passes/ and frontend/: no two include each other, and headers of passes/ itself include none.
grep -rHo '^#include "[a-z_/]*/[a-z_.]*"' compiler --include='*.[ch]' | sed 's,^compiler/,,; s,/[^/]*:#include ", ,; s,/[^/]*"$,,' | sort -u > "$WORK/edges"
awk '$1 != $2 { seen[$1 " " $2] = 1 } END { for (e in seen) { split(e, d, " "); a = d[1]; b = d[2]; sub("/[^/]*$", "", a); sub("/[^/]*$", "", b)
    if (d[1] ~ "/" && a == b && d[1] < d[2] && (d[2] " " d[1]) in seen) print d[1] " and " d[2] " include each other" } }' "$WORK/edges" > "$WORK/rings"
grep -l '^#include "passes/[a-z]*/' compiler/passes/*.h >> "$WORK/rings"
same "layers: no two rooms include each other" /dev/null "$WORK/rings"

mkdir -p "$WORK/tree/util"
echo '#include "build/build.h"' > "$WORK/tree/util/planted.c"
upward "$WORK/tree" > "$WORK/planted"
check "layers: one that does is found" grep -q 'planted.c includes build/' "$WORK/planted"

grep -nE '(k|kernel|first|kernels\[[a-z]\])->node\b' compiler/codegen/*.[ch] > "$WORK/nodes"
same "layers: kernels are printed without their nodes" /dev/null "$WORK/nodes"

# Lines above 100 columns are diagrams and tables in comments, and the page of the server.
git ls-files 'compiler/*.[ch]' 'runtime/*.[ch]' 'tests/*.[ch]' ':!tests/golden' 2> /dev/null | xargs -r cat | awk 'length > 100' | wc -l > "$WORK/long"
check "layers: at most 300 lines above 100 columns: $(cat "$WORK/long")" [ "$(cat "$WORK/long")" -le 300 ]
check "layers: clang-format knows the loops that macros make" grep -q '^ForEachMacros:.*EACH_NODE' .clang-format

# The top level has the folders and pages of the README, and nothing that a build or a run left.
git ls-files 2> /dev/null | sed 's,/.*,,' | grep -v '^\.' | sort -u > "$WORK/top"
printf '%s\n' CHANGELOG.md LICENSE Makefile README.md compiler dsl examples runtime tests > "$WORK/expected"
[ ! -s "$WORK/top" ] || same "layers: the top level" "$WORK/expected" "$WORK/top"

#!/bin/sh
# Unpacks and packs the fixtures of tests: many small files that are committed as few.
#   tests/fixtures.sh unpack     $BUILD/fixtures/ROOM/NAME..., when something is newer than they are (scripts do it by tests/lib.sh)
#   tests/fixtures.sh pack       moves loose files of the rooms into their packs; run it before a commit
#   tests/fixtures.sh repack     writes the packs anew from $BUILD/fixtures, after files there were edited
#
# A room of folders (a model each) is packed as tests/ROOM/models/LETTER.tar, by the first letter of the folder. A model that is being
# worked on may be a loose folder tests/ROOM/NAME.
#
# tests/errors is packed as tables, errors/AREA.cases: a line `%% FILE` begins a file; `%% FILE -` one without a newline at its end.
# A case that is being worked on may be loose files; it goes to the table of its first word if there is one, else to other.cases.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
to=$BUILD/fixtures
rooms="families published formats/folders"
LC_ALL=C
export LC_ALL

# newer: true when a pack or a loose file changed after the fixtures were unpacked
newer() {
    [ ! -e "$to/stamp" ] || [ -n "$(find tests/fixtures.sh tests/errors tests/families tests/published \
        tests/formats/folders -newer "$to/stamp" ! -name '*.py' -print -quit)" ]
}

loose_folders() {
    for _config in "tests/$1"/*/config.json; do [ ! -e "$_config" ] || basename "${_config%/config.json}"; done
}

loose_cases() { find tests/errors -type f ! -name '*.cases' ! -name run.sh -printf '%P\n' | sort; }

unpack() {
    mkdir -p "$BUILD"
    exec 9> "$BUILD/fixtures.lock"
    flock 9
    newer || return 0
    rm -rf "$to"
    mkdir -p "$to/errors"
    touch -d '1 second ago' "$to/started"
    cat tests/errors/*.cases 2> /dev/null > "$to/cases" || true
    sed -n 's|^%% \([^ ]*\)/[^/ ]*\( -\)*$|\1|p' "$to/cases" | sort -u | while read -r _folder; do mkdir -p "$to/errors/$_folder"; done
    awk -v to="$to/errors/" '
        /^%% / { if (out) { end() } out = to $2; bare = $3 == "-"; printf "" > out; first = 1; next }
        { printf "%s%s", first ? "" : "\n", $0 > out; first = 0 }
        function end() { if (!bare && !first) { printf "\n" > out } close(out) }
        END { if (out) { end() } }' "$to/cases"
    for _file in $(loose_cases); do
        mkdir -p "$to/errors/$(dirname "$_file")"
        cp "tests/errors/$_file" "$to/errors/$_file"
    done
    for _room in $rooms; do
        mkdir -p "$to/$_room"
        for _pack in "tests/$_room"/models/*.tar; do [ ! -e "$_pack" ] || tar -xf "$_pack" -C "$to/$_room"; done
        for _name in $(loose_folders "$_room"); do
            mkdir -p "$to/$_room/$_name"
            cp -R "tests/$_room/$_name/." "$to/$_room/$_name"
        done
    done
    mv "$to/started" "$to/stamp"
}

# write_tables: errors/*.cases from $to/errors; a table for each first word that has 8 cases or more
write_tables() {
    rm -f tests/errors/*.cases
    (cd "$to/errors" && find . -type f -printf '%P\n') | sort | awk '
        function area(file) { n = split(file, part, "/"); return n > 1 ? part[1] : substr(file, 1, match(file "-", /[-.]/) - 1) }
        { file[NR] = $0; if ($0 ~ /\.err$/) { cases[area($0)]++ } }
        END { for (i = 1; i <= NR; i++) { print (cases[area(file[i])] >= 8 ? area(file[i]) : "other"), file[i] } }' |
        while read -r _area _file; do
            if [ -s "$to/errors/$_file" ] && [ -n "$(tail -c 1 "$to/errors/$_file")" ]; then
                printf '%%%% %s -\n' "$_file" && cat "$to/errors/$_file" && echo
            else
                printf '%%%% %s\n' "$_file" && cat "$to/errors/$_file"
            fi >> "tests/errors/$_area.cases"
        done
}

# write_packs ROOM: models/LETTER.tar from $to/ROOM, the same bytes from the same files
write_packs() {
    rm -rf "tests/$1/models"
    mkdir "tests/$1/models"
    ls "$to/$1" > "$to/names"
    for _letter in $(cut -c 1 "$to/names" | sort -u); do
        grep "^$_letter" "$to/names" | tar -cf "tests/$1/models/$_letter.tar" --sort=name --owner=0 --group=0 --numeric-owner \
            --mtime=@0 --mode=u=rwX,go=rX --format=ustar -C "$to/$1" -T -
    done
}

repack() {
    write_tables
    for _room in $rooms; do write_packs "$_room"; done
    touch "$to/stamp"
}

case ${1-} in
    unpack) unpack ;;
    pack)
        unpack
        repack
        for _file in $(loose_cases); do rm "tests/errors/$_file"; done
        find tests/errors -mindepth 1 -type d -empty -delete
        for _room in $rooms; do for _name in $(loose_folders "$_room"); do rm -r "tests/$_room/$_name"; done; done
        touch "$to/stamp"
        ;;
    repack) repack ;;
    *) sed -n 's/^# \{0,1\}//p' "$0" | sed -n '1,/^$/p' >&2 && exit 2 ;;
esac

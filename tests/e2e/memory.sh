#!/bin/sh
# --max-ram and --max-flash: the options that a refusal suggests fit, and no longer context does.
# RAM is the plan alone; flash also holds code, which is compiled.
. tests/lib.sh
board=--target=thumbv7em-none-eabihf

# refused NAME HINT OPTIONS...: refused, with this hint; each of its alternatives is accepted
refused() {
    _case=$1 _hint=$2
    shift 2
    set -- "$BURIN" build examples/austen "$@"
    case "$*" in # named as what burin tries, whose objects are in the cache
        *--max-flash*) set -- "$@" --optimize=1 -o "$WORK/austen.a" ;;
        *) set -- "$@" --emit=c ;;
    esac
    says "memory: $_case" 1 "hint: it fits with $_hint" "$@"
    sed -n 's/.*it fits with//p' "$WORK/says" | sed 's/, or/\n/g' > "$WORK/hints"
    while read -r _options; do
        # shellcheck disable=SC2086 # words
        check "memory: $_case: $_options" "$@" $_options
    done < "$WORK/hints"
}
refused "a board with 1000K" "--ctx 256, or --kv f16" $board --max-ram 1000K
says "memory: twice the context does not fit" 1 "of RAM, --max-ram allows" "$BURIN" build examples/austen $board --max-ram 1000K --ctx 512 --emit=c
refused "flash of 3M, which weights of q8_0 fit, but not with code" "--quant q4_0" $board --max-flash 3M
refused "a program's weights count" "--ctx 128, or --quant q8_0" --max-ram 6M
refused "several options" "--chunk 8 --kv q8_0 --ctx 64" $board --max-ram 128K

# One total: what a build prints for --ctx 64 is what a program for 512 positions says for --ctx 64.
for kind in "--kv q8_0" ""; do
    # shellcheck disable=SC2086 # words
    for context in 64 512; do "$BURIN" build examples/austen --mcpu=native $kind --ctx $context -o "$WORK/austen$context" 2> "$WORK/said$context" >&2; done
    total=$(sed -n 's/.*needs at most \(.*\); try.*/\1/p' "$WORK/said64" | sed 's/ MB: weights [0-9.]*//; s/^[0-9.]*//')
    check "memory: --ctx 64 of a run $kind: $total" grep -q "with --ctx 64 at most .*$total" - <<END
$("$WORK/austen512" --info --ctx 64)
END
done
whole=$(sed -n 's/.*needs at most \(.*\); try.*/\1/p' "$WORK/said512")
says "memory: too little says the total" 1 "not enough memory: this needs at most $whole" sh -c "ulimit -v 9000; '$WORK/austen512' It -n 1 -t 1"

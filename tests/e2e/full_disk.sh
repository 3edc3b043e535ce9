#!/bin/sh
# Disks that are full and files that may not be as large: one message, nothing left, whatever was being written. On a file system of
# its own where a user may mount one.
. tests/lib.sh
unsanitized full_disk
model="examples/austen --mcpu=x86-64-v3"
mkdir "$WORK/small" "$WORK/out" "$WORK/tmp"
# refused NAME TEXT COMMAND...: it prints this as its only error, and the small disk is empty in the
# end
refused() {
    name=$1 text=$2
    shift 2
    "$@" 2> "$WORK/said" > "$WORK/out.txt"
    status=$?
    left=$(ls -A "$WORK/small" "$WORK/out" "$WORK/tmp" | grep -v ':$' | tr -d '\n')
    check "full disk: $name: status $status, left: $left" [ $status = 1 -a -z "$left" ]
    grep -v '^burin: warning\|^  hint: XDG' "$WORK/said" > "$WORK/errors"
    check "full disk: $name: $(head -n 1 "$WORK/errors")" sh -c "grep -q '$text' '$WORK/errors' && [ \$(wc -l < '$WORK/errors') -le 2 ]"
}
if [ "${1-}" = mounted ]; then
    room="/small: No space left on device\|cannot write .*/small/.*No space left\|no room is left in .*/small"
    mount -t tmpfs -o size=64k small "$WORK/small"
    XDG_CACHE_HOME=/proc/none TMPDIR=$WORK/small refused "TMPDIR of 64k" "$room" $BURIN build $model -o "$WORK/out/a"
    for output in 300k/a 300k/a.c 2m/a 2m/a.a; do
        umount "$WORK/small" && mount -t tmpfs -o size=${output%/*} small "$WORK/small"
        refused "$output" "$room" $BURIN build $model -o "$WORK/small/${output#*/}"
    done
    umount "$WORK/small"
    exit 0
fi
limited() { (ulimit -f "$1" && shift && TMPDIR=$WORK/tmp exec "$@"); }
refused "compiling, ulimit -f" "compiling .*: a file is larger than this process may write" limited 60 env XDG_CACHE_HOME=/proc/none $BURIN build $model -o "$WORK/out/a"
refused "linking, ulimit -f" "linking: a file is larger" limited 1000 $BURIN build $model -o "$WORK/out/a"
refused "writing weights, ulimit -f" "out/.*File too large" limited 8000 $BURIN build $model -o "$WORK/out/a"

unshare -rm mount -t tmpfs small "$WORK/small" 2> /dev/null || { skip "full disk: file systems" "no user may mount one here" && exit 0; }
unshare -rm sh "$0" mounted

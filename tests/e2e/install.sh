#!/bin/sh
# An installed burin needs nothing of the source tree.
. tests/lib.sh
san=
case $BUILD in */san) san=SAN=1 ;; esac
check "install: make install" make --no-print-directory install PREFIX="$WORK/usr" $san
check "install: finds its descriptions" grep -q '^llama  *LLaMA' <<END
$("$WORK/usr/bin/burin" models)
END
(cd "$WORK" && usr/bin/burin build "$OLDPWD/examples/austen" > "$WORK/said" 2>&1) || sed 's/^/# /' "$WORK/said"
check "install: builds a program" "$WORK/austen" --tokens 0 -n 1

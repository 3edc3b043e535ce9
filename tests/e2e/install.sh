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

# Installed files, and their removal.
for file in share/bash-completion/completions/burin share/zsh/site-functions/_burin share/man/man1/burin.1 share/pkgconfig/burin.pc; do
    check "install: $file" test -s "$WORK/usr/$file"
done
if command -v pkg-config > /dev/null; then
    says "install: pkg-config" 0 "$WORK/usr/bin/burin" env PKG_CONFIG_PATH="$WORK/usr/share/pkgconfig" pkg-config --variable=burin burin
fi
check "install: make uninstall" make --no-print-directory uninstall PREFIX="$WORK/usr" $san
check "install: no file is left: $(find "$WORK/usr" -type f)" [ -z "$(find "$WORK/usr" -type f)" ]

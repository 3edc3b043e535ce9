# A system without the static C library.
mkdir bin
cat > bin/clang-19 <<'END'
#!/bin/sh
case " $* " in *" -c "*) exec /usr/bin/clang-19 "$@" ;; esac
echo "/usr/bin/ld: cannot find -lm: No such file or directory" >&2
exit 1
END
chmod +x bin/clang-19
PATH=$PWD/bin:$PATH $BURIN build $TOP/examples/digits/digits.onnx --mcpu=x86-64-v3 -o out 2>&1 > /dev/null; s=$?
rm -r bin; exit $s

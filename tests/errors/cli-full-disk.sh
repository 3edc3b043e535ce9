# A compiler and a linker without room for what they write.
mkdir bin
cat > bin/clang-19 <<'END'
#!/bin/sh
case " $* " in *" -c "*" -o "*)
    [ -z "$IN_COMPILING" ] || { echo "LLVM ERROR: IO failure on output stream: $IN_COMPILING" >&2 && exit 1; }
    while [ "$1" != -o ]; do shift; done
    exec touch "$2" ;;
*) echo "ld: final link failed: File too large" >&2 && exit 1 ;;
esac
exec /usr/bin/clang-19 "$@"
END
chmod +x bin/clang-19
export XDG_CACHE_HOME=/proc/none
build() { PATH=$PWD/bin:$PATH $BURIN build $TOP/examples/digits/digits.onnx --mcpu=x86-64-v3 -o out 2>&1 > /dev/null | grep -v '^burin: warning\|XDG_CACHE' |
    sed 's/compiling .*: \(.*tmp\)/compiling: \1/'; } # any of the files is first
IN_COMPILING="No space left on device" build
IN_COMPILING="Disk quota exceeded" build
build
rm -r bin; exit 1

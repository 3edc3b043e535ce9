# what burin did not write is not replaced: a file, a header beside a library, a folder with more in it, a link to one
b="$BURIN build $TOP/examples/digits/digits.onnx --mcpu=x86-64-v3 -o"
echo notes > x; $b x
echo '#define MINE' > y.h; $b y.a
mkdir notes && echo mine > notes/mine && ln -s notes z.c; $b z.c
rm z.c && $b z.c > said && echo mine > z.c/mine; $b z.c
rm z.c/mine && ln -s ../notes z.c/runtime/more; $b z.c
rm z.c/runtime/more && $b z.c > said; cat x y.h notes/mine; rm -r x y.h z.c notes said

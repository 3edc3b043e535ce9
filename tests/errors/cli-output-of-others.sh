# what burin did not write is not replaced: a text, a program, library or archive of others, one that was changed, a link, a
# header beside a library, a folder with more in it, a link to one
b="$BURIN build $TOP/examples/digits/digits.onnx --mcpu=x86-64-v3 -o"
echo notes > x; $b x
cp /bin/true x; $b x
: > x && $b x > said && $b x > said && strip x && $b x
rm x && ln -s nowhere x; $b x; rm x
$b y.a > said && $b y.a > said && echo notes > note && ar q y.a note && $b y.a
rm y.a note && ar qc y.a /bin/true && $b y.a
rm y.a
for kind in o so; do $b y.$kind > said && $b y.$kind > said && echo more >> y.$kind && $b y.$kind; rm y.$kind; done
echo '// compiled by burin' > y.h; $b y.a
mkdir notes && echo mine > notes/mine && ln -s notes z.c; $b z.c
rm z.c && $b z.c > said && echo mine > z.c/mine; $b z.c
rm z.c/mine && ln -s ../notes z.c/runtime/more; $b z.c
rm z.c/runtime/more && $b z.c > said; cat y.h notes/mine; rm -r y.h y.py z.c notes said

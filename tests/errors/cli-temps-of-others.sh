# What --save-temps would write is beside a link, a folder of others, its own of an earlier build.
mkdir precious && echo mine > precious/digits.c && ln -s precious linked.temps
build() { $BURIN build $TOP/examples/digits/digits.onnx --mcpu=x86-64-v3 --save-temps -o $1 > out 2>&1; s=$?; grep -A 1 error out; echo "$1: $s"; }
build linked
build precious/other && build precious/other
mv precious other.temps && build other
cat other.temps/digits.c && rm -r other.temps linked.temps out

echo "print(1)" > d.py; $BURIN build $TOP/examples/digits/digits.onnx --mcpu=native -o d.so > text; s=$?; rm d.so d.h d.py text; exit $s

for name in x.exe out/x.DLL x.dylib x.wasm x.py x.cpp x.h x.rs x.s x.ir x.onnx x.npy x.txt x.sh x.tar.gz; do
    $BURIN build $TOP/examples/austen -o $name
done
exit $?

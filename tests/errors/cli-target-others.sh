$BURIN build model --target=wasm32-wasi
$BURIN build model --target=aarch64-windows-gnu
$BURIN build model --target=x86_64-w64-mingw32
$BURIN build $TOP/examples/austen --target=x86_64-windows-gnu -o model.so
$BURIN build $TOP/examples/austen --target=x86_64-windows-gnu -o model.o
$BURIN build $TOP/examples/austen -o model.dll
$BURIN build $TOP/examples/austen --target=x86_64-windows-gnu --sysroot=. -o model.exe
$BURIN build model --target=aarch64-linux-android
$BURIN build model --target=riscv64-linux-musl

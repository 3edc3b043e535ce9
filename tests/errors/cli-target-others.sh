$BURIN build model --target=wasm32-wasi
$BURIN build model --target=x86_64-windows-gnu
$BURIN build model --target=aarch64-linux-android
$BURIN build model --target=aarch64-linux-musl

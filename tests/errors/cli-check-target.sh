$BURIN check $TOP/examples/austen --target=aarch64-linux-gnu

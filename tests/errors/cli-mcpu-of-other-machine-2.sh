$BURIN build model --target=aarch64-linux-gnu --mcpu=x86-64-v3

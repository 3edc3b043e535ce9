$BURIN build model --target=aarch64-linux-gun

$BURIN build $SHARED/data/families/vit --pooling=mean -o out

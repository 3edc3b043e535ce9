$BURIN build $SHARED/data/families/gpt2 --ctx 100000 -o out

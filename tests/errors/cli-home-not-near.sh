cp $BURIN ./burin; ./burin build $TOP/examples/austen -o out 2>&1 | sed "s|near .*|near HERE|"; rm burin

$BURIN build $TOP/examples/austen -o "$(printf '%0300d' 1)"

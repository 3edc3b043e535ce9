$BURIN build $TOP/examples/austen --ctx 600 --emit=ir > ir; s=$?; rm ir; exit $s

head -c 4000 $TOP/LICENSE > x.bin; $BURIN build x.bin; s=$?; rm x.bin; exit $s

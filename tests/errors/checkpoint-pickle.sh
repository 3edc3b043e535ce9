printf "PK\\003\\004pytorch" > x.bin; $BURIN build x.bin; s=$?; rm x.bin; exit $s

printf "\\0\\1" > x.ir; $BURIN build x.ir --start-from=fuse -o out; s=$?; rm x.ir; exit $s

model=$TOP/examples/digits/digits.onnx arm=--target=aarch64-linux-gnu
$BURIN build $model $arm --sysroot=nowhere -o out
mkdir -p root/usr/include root/lib
$BURIN build $model $arm --sysroot=root -o out
touch root/usr/include/stdio.h
$BURIN build $model $arm --sysroot=root -o out
touch root/lib/crt1.o root/lib/libc.a
$BURIN build $model $arm --sysroot=root -o out
$BURIN build $model $arm --sysroot=root -o out.a 2>&1 | grep -o ': the C library that is compiled with has no header '
$BURIN build $model $arm --sysroot=root -o out.c
$BURIN build $model --sysroot=root --target=all-linux -o out
$BURIN build $model --sysroot=root --with=mpi -o out; s=$?
rm -r root; exit $s

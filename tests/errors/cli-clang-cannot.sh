mkdir bin
printf '#!/bin/sh\necho "clang: error: unknown argument"\nexit 1\n' > bin/clang-17
chmod +x bin/clang-17
BURIN_CC=bin/clang-17 $BURIN build $TOP/examples/austen -o out
BURIN_CC=clang-99 $BURIN build $TOP/examples/austen -o out
PATH=bin $BURIN build $TOP/examples/austen -o out; s=$?
rm -r bin; exit $s

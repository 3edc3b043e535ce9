# A clang for cases that need a program, however slow: -O0. Remove bin.
mkdir bin
printf '#!/bin/sh\nexec /usr/bin/clang-19 "$@" -O0\n' > bin/clang-19
chmod +x bin/clang-19
PATH=$PWD/bin:$PATH

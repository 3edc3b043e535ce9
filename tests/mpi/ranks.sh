#!/bin/sh
# Programs of --with=mpi: the logits of several ranks are bit for bit those of one process built without it.
. tests/lib.sh
. tests/lib_mpi.sh
need_mpi "programs over several ranks"
for cc in gcc clang-19; do
    for file in runtime/mpi/*.c; do
        check "$file: no warnings of $cc" env OMPI_CC=$cc MPICH_CC=$cc mpicc -std=gnu17 -D_GNU_SOURCE -DBURIN_MPI=1 -O1 -Wall -Wextra \
            -Werror -Iruntime -c "$file" -o "$WORK/object"
    done
done
texts="It was a truth universally acknowledged"

check "austen builds" "$BURIN" build examples/austen --mcpu=native --with=mpi -o "$WORK/austen"
"$BURIN" build examples/austen --mcpu=native -o "$WORK/austen-alone" > "$WORK/log" 2>&1
alone=$("$WORK/austen-alone" "$texts" -n 12 --temp 0 --logits-hash | tail -n 1)
check "austen: one process has the bits of the program without MPI" \
    test "$("$WORK/austen" "$texts" -n 12 --temp 0 --logits-hash | tail -n 1)" = "$alone"
same_over_ranks "austen" "1:2 2:1 3:2 4:1" "$WORK/austen" "$texts" -n 12 --temp 0 --logits-hash
for shares in 3,1 0,1,5; do
    n=$(echo $shares | tr , '\n' | wc -l)
    got=$(ranks "$n" "$WORK/austen" "$texts" -n 12 --temp 0 --logits-hash -t 1 --shares $shares | tail -n 1 | tr -d '\r')
    check "austen, --shares $shares: the same bits" test "$got" = "$alone"
done

check "numbers builds" "$BURIN" build examples/numbers --mcpu=native --with=mpi -o "$WORK/numbers"
got=$(ranks 3 "$WORK/numbers" einhundertacht -t 1 | tr -d '\r')
check "an encoder and its decoder over 3 ranks" test "$got" = "one hundred and eight"
onnx=$SHARED/data/onnx
if [ -d "$onnx/tiny-gpt2-past" ]; then
    check "an ONNX decoder builds" "$BURIN" build "$onnx/tiny-gpt2-past/past.onnx" --mcpu=native --with=mpi -o "$WORK/past"
    same_over_ranks "an ONNX decoder" "3:1" "$WORK/past" --tokens 1,2,3 -n 5 --temp 0 --logits-hash
else
    skip "a decoder of ONNX over ranks" "no $onnx"
fi

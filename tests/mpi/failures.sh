#!/bin/sh
# Errors over several ranks end with a message that names the rank, on all ranks, without endless
# waiting.
. tests/lib.sh
. tests/lib_mpi.sh
says "--with knows mpi alone" 2 "--with=mpy: unknown" "$BURIN" build examples/austen --with=mpy -o "$WORK/x"
says "no MPI for another machine" 2 "--with=mpi: there is no MPI for aarch64-linux-gnu here" "$BURIN" build examples/austen --with=mpi \
    --target=aarch64-linux-gnu -o "$WORK/x"
says "no library over ranks" 2 "-o $WORK/x.a: --with=mpi makes a program or a folder of C" "$BURIN" build examples/austen --with=mpi -o "$WORK/x.a"
says "--gather-above without ranks" 0 "--gather-above=1 has no effect: it is for --with=mpi" "$BURIN" build examples/austen --gather-above 1 \
    -o "$WORK/x.c"
mkdir "$WORK/path"
ln -s "$(command -v clang-19)" "$WORK/path/clang-19"
says "no mpicc" 1 "--with=mpi: there is no mpicc on PATH" env PATH="$WORK/path" "$BURIN" build examples/austen --with=mpi -o "$WORK/x"

need_mpi "failures over several ranks"
check "another builds" "$BURIN" build examples/austen --mcpu=native --with=mpi --ctx 200000 -o "$WORK/other"
check "builds" mpi_program austen examples/austen
other=$WORK/other
logged() { grep -E "$1" "$WORK/log" || ! cat "$WORK/log"; }
austen() { ranks "$1" "$program" "It was" -n 4 "$2" "$3"; }

# Returns true if the process waits for its standard input.
reads_input() { awk '$2 == "0x0" { found = 1 } END { exit !found }' "/proc/$1/syscall" 2> "$WORK/no-process"; }

# the first rank waits for its prompt beyond all time-outs, and the others wait with it; then it is
# stopped
first_stands_still() {
    mkfifo "$WORK/prompt"
    sleep 60 > "$WORK/prompt" &
    sleeper=$!
    timeout 60 $MPIRUN -n 3 sh -c \
        '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && echo $$ > "$1/first"; exec "$2" -f - -n 4 -t 1 --rank-timeout 1' sh "$WORK" "$program" \
        < "$WORK/prompt" > "$WORK/log" 2>&1 &
    run=$!
    for _ in $(seq 400); do [ -s "$WORK/first" ] && reads_input "$(cat "$WORK/first")" && break; sleep 0.05; done
    sleep 3
    check "a first rank that waits for its prompt keeps the others" kill -STOP "$(cat "$WORK/first")"
    wait $run
    check "a first rank that stands still: the run ends (status $?)" test $? != 124
    check "and it is named" logged "has waited 2 seconds for rank 0"
    kill -KILL "$(cat "$WORK/first")" $sleeper 2> "$WORK/gone"
}

# rank 1 is killed, or stopped, while the others run
signalled() {
    tell_second_rank
    timeout 60 $MPIRUN -n 3 "$WORK/rank" "$program" "It was" -n 100000 --shift --ignore-eos -t 1 --rank-timeout 2 "$2" \
        > "$WORK/log" 2>&1 < /dev/null &
    for _ in $(seq 200); do [ -s "$WORK/log" ] && break; sleep 0.05; done
    kill "-$1" "$(cat "$PID_OF_RANK")"
    wait $!
}
stands_still() {
    signalled STOP "$1"
    status=$?
    check "a rank that stands still ($1): the run ends with status 1 (it was $status)" test $status = 1
    check "and the rank is named" logged "waited 2 seconds for rank 1"
    kill -KILL "$(cat "$PID_OF_RANK")" 2> "$WORK/gone"
}
is_killed() {
    signalled KILL --ignore-eos
    status=$?
    check "a rank that is killed: the run ends (status $status)" test $status != 0 -a $status != 124
    case $MPIRUN in *oversubscribe) how="rank 1 .*signal 9|RANK 1 .*KILLED" ;; *) how="EXIT STRING: Killed .signal 9" ;; esac
    check "and mpirun says so" logged "$how"
}

# most of their time they wait
later first_stands_still
later stands_still --rank-messages
later stands_still --ignore-eos
later is_killed
later says "shares that do not fit" 1 "--shares 3,1: 2 shares, and this run has 3 ranks" austen 3 --shares 3,1
later says "shares that are no numbers" 2 "expected a whole number for each rank" austen 2 --shares 3,x
later says "no share at all" 1 "no rank has a share" austen 2 --shares 0,0
later says "a session that ranks share" 1 "--session: no rank has the whole cache" austen 2 --session "$WORK/session"
later says "another build" 1 "rank 1 ($(hostname)) runs another build" timeout 60 $MPIRUN -n 1 "$program" "It was" -n 4 : \
    -n 1 "$other" "It was" -n 4
later says "too little memory" 1 "rank 1 ($(hostname)) has not enough memory" timeout 60 $MPIRUN \
    -n 1 "$other" "It was" -n 4 -t 1 : -n 1 sh -c "ulimit -v 600000; exec \"$other\" x -t 1"
all_later

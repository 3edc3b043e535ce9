# Programs over several ranks: for scripts that have read tests/lib.sh.
# CI may run as root, which Open MPI refuses unless told twice.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# In a container there may be no ssh, and no right to read another process's memory.
export OMPI_MCA_plm_rsh_agent=sh OMPI_MCA_btl_vader_single_copy_mechanism=none

# Its folders: two that start at once must not both make the first one of this machine.
export OMPI_MCA_orte_tmpdir_base="$WORK"

# Open MPI starts no more ranks than there are CPUs unless told so; MPICH does.
MPIRUN=mpirun
case $(mpirun --version 2> /dev/null) in *"Open MPI"*) MPIRUN="mpirun --oversubscribe" ;; esac

# ranks N PROGRAM...: the output of the first rank; ended after a minute
ranks() {
    _n=$1
    shift
    timeout 60 $MPIRUN -n "$_n" "$@" < /dev/null
}

# tell_second_rank: $WORK/rank PROGRAM... runs a rank; the process of rank 1 is in $PID_OF_RANK.
tell_second_rank() {
    cat > "$WORK/rank" << 'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && echo $$ > "$PID_OF_RANK"
exec "$@"
END
    chmod +x "$WORK/rank"
    export PID_OF_RANK="$WORK/pid"
}

# mpi_program NAME MODEL: $BUILD/mpi/NAME-..., for the mpicc that is here; scripts share it, the first one builds it
mpi_program() {
    program=$BUILD/mpi/$1-$(mpicc -show | cksum | cut -d' ' -f1)
    mkdir -p "$BUILD/mpi"
    (
        flock 9
        [ -e "$program" ] && [ -z "$(find "$BURIN" runtime dsl "$2" -newer "$program" -print -quit)" ] && exit
        "$BURIN" build "$2" --mcpu=native --with=mpi -o "$program"
    ) 9> "$program.lock"
}

# later COMMAND...: checks that run beside those of other calls, in a $WORK of their own; all_later waits, and shows them in order
later() {
    _later=$((${_later:-0} + 1))
    mkdir "$WORK/later$_later"
    (WORK=$WORK/later$_later && OMPI_MCA_orte_tmpdir_base=$WORK && "$@") > "$WORK/later$_later.out" 2>&1 &
}
all_later() {
    wait
    for _i in $(seq "$_later"); do cat "$WORK/later$_i.out"; done
}

need_mpi() {
    command -v mpicc > /dev/null && command -v mpirun > /dev/null && return
    skip "$1" "no mpicc or mpirun: apt-get install libopenmpi-dev openmpi-bin"
    exit 0
}

# same_over_ranks NAME CELLS PROGRAM...: the hash of one process, in every cell RANKS:THREADS
same_over_ranks() {
    _name=$1 _list=$2 _other=
    shift 2
    _expected=$("$@" -t 1 | tail -n 1)
    for _cell in $_list; do
        _got=$(ranks "${_cell%:*}" "$@" -t "${_cell#*:}" 2>&1 | tail -n 1 | tr -d '\r')
        [ "$_got" = "$_expected" ] || _other="$_other $_cell: $_got"
    done
    check "$_name: the same bits over ranks:threads $_list$_other" test "${#_expected}" = 16 -a -z "$_other"
}

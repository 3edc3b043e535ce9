#!/bin/sh
# Emitted programs against the interpreter: one hash of all logits over CPUs, threads, chunks and compilers; no data race with all
# barriers, and one without any single barrier. Plain C and AVX-512 only of the models in `widely`, all with EMITTED=all
# (slow-emitted.sh).
. tests/lib.sh
unsanitized "emitted"
. tests/lib_emit.sh
cpus="x86-64:x86_64:-march=x86-64 x86-64-v3:x86_64_v3:-march=x86-64-v3 x86-64-v4:x86_64_v4:-march=x86-64-v4"
case $(uname -m) in x86_64) ;; *) skip "emitted: x86-64" "not this machine" && exit 0 ;; esac
avx2=x86-64-v3:x86_64_v3:-march=x86-64-v3
widely=" llama llama_q8_0 scan views "

# carried_by NAME: the CPUs that its program has code for
carried_by() {
    case ${EMITTED-}$widely in all* | *" $1 "*) echo "$cpus" ;; *) echo "$avx2" ;; esac
}
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    is_decoder "$name" || continue
    hash=$("$BUILD/tools/eval_ir" "$ir")
    compilers=clang-19
    [ "$name" = llama ] && compilers="clang-19 gcc"
    for cc in $compilers; do
        carried=$(carried_by "$name")
        [ $cc = clang-19 ] || carried=$avx2 # gcc takes ten times as long as clang
        # shellcheck disable=SC2086
        check "emitted: $name with $cc" emitted_build "$WORK/$name-$cc" "$name" "$(echo $cc | sed "s,^clang-19$,$(emulator),")" $carried
        for cpu in x86-64 x86-64-v3 x86-64-v4; do
            case $carried in *"$cpu:"*) ;; *) continue ;; esac
            if [ $cpu = x86-64-v4 ] && ! grep -q avx2 /proc/cpuinfo; then
                skip "emitted: $name $cc $cpu" "this CPU has no AVX2, and AVX-512 no emulation"
                continue
            fi
            for cell in 1:1 2:7 3:40; do
                emitted_cell "emitted: $name $cc $cpu, threads:chunk $cell" "$hash" "$WORK/$name-$cc/run" $cpu "${cell%:*}" "${cell#*:}"
            done
        done
    done
done

# Networks: one symbol, a few of its values.
for ir in tests/golden/emit/*.ir; do
    name=$(basename "$ir" .ir)
    is_decoder "$name" && continue
    carried=$(carried_by "$name")
    carried=${carried% x86-64-v4:*}
    # shellcheck disable=SC2086
    check "emitted: $name" emitted_build "$WORK/$name" "$name" clang-19 $carried
    for length in 1 7 40; do
        hash=$("$BUILD/tools/eval_network" "$ir" T=$length)
        for cpu in x86-64 x86-64-v3; do
            case $carried in *"$cpu:"*) ;; *) continue ;; esac
            for threads in 1 3; do emitted_cell "emitted: $name $cpu, $threads threads, length $length" "$hash" "$WORK/$name/run" $cpu $threads $length; done
        done
    done
done

# Data races: plain C, because ThreadSanitizer does not see wide vectors.
races() { "$1/run" x86-64 3 "$2" 7 2>&1 | grep -c 'WARNING: ThreadSanitizer'; }
without_barrier() { awk -v gone="$3" '/BARRIER\(\);$/ { if (++n == gone) next } { print }' "$1" > "$2"; }
sanitize="clang-19 -fsanitize=thread -g -O1 -DBURIN_SLICE_UNITS=0 -DBURIN_ATTENTION_ROWS=2" # small work in slices, too
for name in llama_q8_0_heads llama scatters; do
    dir=$WORK/races_$name
    if ! emitted_build "$dir" $name "$sanitize" x86-64:x86_64:-march=x86-64 > "$WORK/races.log" 2>&1; then
        skip "emitted: races" "no ThreadSanitizer here"
        exit 0
    fi
    emitted_cell "emitted: $name in pieces" "$("$BUILD/tools/eval_ir" tests/golden/emit/$name.ir)" "$dir/run" x86-64 3 7
    for chunk in 1 7; do check "emitted: $name: no race in chunks of $chunk" test "$(races "$dir" $chunk)" = 0; done
done
cp "$dir/$name.c" "$WORK/whole.c"
without_barrier "$WORK/whole.c" "$dir/$name.c" 2
$sanitize -std=gnu17 -w -D_GNU_SOURCE -ffp-contract=off -Iruntime -I"$dir" -DBURIN_CPU=x86_64 tests/tools/run_emitted.c "$dir/${name}_model.c" \
    "$dir/$name.c" runtime/engine/forward.c runtime/engine/integrity.c runtime/engine/threads.c "$dir/weights.S" -lm -lpthread -o "$dir/run"
check "emitted: a missing barrier is a race" test "$(races "$dir" 7)" != 0

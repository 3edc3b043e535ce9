#!/bin/sh
# --over=mpi: lines and batches over ranks, with the same bytes as from one rank; failing items;
# --resume.
. tests/lib.sh
. tests/lib_mpi.sh
need_mpi "lines over several ranks"
check "numbers builds" mpi_program numbers examples/numbers
numbers=$program
check "austen builds" mpi_program austen examples/austen
austen=$program
check "digits builds" "$BURIN" build examples/digits/digits.onnx --mcpu=native --with=mpi -o "$WORK/digits"

# over NAME RANKS PROGRAM...: the bytes of one rank
over() {
    _what=$1 _ranks=$2
    shift 2
    "$@" -t 1 > "$WORK/one"
    ranks "$_ranks" "$@" -t 1 > "$WORK/several"
    check "$_what: there is a result" test -s "$WORK/one"
    same "$_what: $_ranks ranks" "$WORK/one" "$WORK/several"
}
for word in einhundertacht zwölf dreiundzwanzig siebzig; do
    for _ in 1 2 3 4 5 6; do echo $word; done
done > "$WORK/words"
over "numbers" 3 "$numbers" -f "$WORK/words" --over=mpi
"$numbers" -f "$WORK/words" > "$WORK/several"
same "numbers: without --over" "$WORK/several" "$WORK/one"
over "numbers, sampled" 2 "$numbers" -f "$WORK/words" --over=mpi --temp 2 --min-p 0 --top-p 1 --seed 7
"$numbers" -f "$WORK/words" --temp 2 --min-p 0 --top-p 1 --seed 7 > "$WORK/several"
same "numbers, sampled: without --over" "$WORK/several" "$WORK/one"
check "numbers, sampled: a line draws its own numbers" test "$(sort -u "$WORK/one" | wc -l)" -gt 4

for i in $(seq 30); do echo "It was $i of"; done > "$WORK/prompts"
over "austen, a text for each line" 3 "$austen" -f "$WORK/prompts" -n 12 --seed 3 --over=mpi
tail -n 1 "$WORK/prompts" | tr -d '\n' > "$WORK/last"
check "austen: a line's text is that of the line alone" \
    test "$("$austen" -f "$WORK/last" -n 12 --seed 32)" = "$("$austen" -f "$WORK/prompts" -n 12 --seed 3 --over=mpi --json | tail -n 1 |
        sed 's/^{"text": "\(.*\)", "finish_reason.*/\1/; s/\\n/\n/g; s/\\"/"/g')"
over "austen, JSON with logprobs" 2 "$austen" -f "$WORK/prompts" -n 4 --seed 3 --json --logprobs 2 --over=mpi

# a batch; the scores of lines
values examples/digits/images.npy | npy '<f4' 8,8,1,8,8 > "$WORK/batch.npy"
over "digits, a batch" 3 "$WORK/digits" --input "$WORK/batch.npy" --hash --over=mpi
"$WORK/digits" --input "$WORK/batch.npy" --hash > "$WORK/several"
same "digits, a batch: without --over" "$WORK/several" "$WORK/one"
over "digits, a batch and --resume" 2 "$WORK/digits" --input "$WORK/batch.npy" --hash --over=mpi --resume "$WORK/kept.batch"
tar xJf tests/e2e/heads.tar.xz -C "$WORK" cross
check "a cross-encoder builds" "$BURIN" build "$WORK/cross" --mcpu=native --with=mpi -o "$WORK/scorer"
cut -f 2 "$WORK/cross/texts" > "$WORK/lines"
over "a cross-encoder's ranking" 3 "$WORK/scorer" --rank "a query" -f "$WORK/lines" --over=mpi
"$WORK/scorer" --rank "a query" -f "$WORK/lines" > "$WORK/several"
same "its ranking without --over" "$WORK/several" "$WORK/one"
over "a cross-encoder's scores" 2 "$WORK/scorer" -f "$WORK/cross/texts" --format json --over=mpi
# a line that fails: earlier lines are printed, as by one rank
(head -n 9 "$WORK/prompts" && yes word | head -n 2000 | tr '\n' ' ' && echo && cat "$WORK/prompts") > "$WORK/bad"
"$austen" -f "$WORK/bad" -n 5 --temp 0 --over=mpi > "$WORK/one" 2> "$WORK/log"
ranks 3 "$austen" -f "$WORK/bad" -n 5 --temp 0 --over=mpi -t 1 > "$WORK/several" 2> "$WORK/err"
check "a line that fails: status" test $? = 1
check "a line that fails: its message" grep -q "the prompt has 2[0-9]* tokens" "$WORK/err"
check "a line that fails: lines before it are there" test "$(wc -l < "$WORK/one")" -ge 9
same "a line that fails: the same lines before it" "$WORK/one" "$WORK/several"

# the file of --resume, with its last result cut, as by a run that was stopped
"$austen" -f "$WORK/prompts" -n 12 --seed 3 --over=mpi > "$WORK/one"
ranks 2 "$austen" -f "$WORK/prompts" -n 12 --seed 3 --over=mpi --resume "$WORK/kept" > "$WORK/log"
bytes=$(stat -c %s "$WORK/kept")
truncate -s $((bytes / 2)) "$WORK/kept"
ranks 2 "$austen" -f "$WORK/prompts" -n 12 --seed 3 --over=mpi --resume "$WORK/kept" > "$WORK/several"
same "--resume: what was lost is computed again" "$WORK/one" "$WORK/several"
check "--resume: and no more" test "$(stat -c %s "$WORK/kept")" = "$bytes"
sed '4s/.*/Another line/' "$WORK/prompts" > "$WORK/changed"
"$austen" -f "$WORK/changed" -n 12 --seed 3 --over=mpi > "$WORK/one"
"$austen" -f "$WORK/changed" -n 12 --seed 3 --over=mpi --resume "$WORK/kept" > "$WORK/several"
same "--resume: a line that has changed" "$WORK/one" "$WORK/several"
check "--resume: it alone is new" test "$(stat -c %s "$WORK/kept")" -lt $((bytes + 300))
says "--resume: other options" 1 "it holds results of another program, or of other options" "$austen" -f "$WORK/prompts" -n 13 --seed 3 \
    --over=mpi --resume "$WORK/kept"
says "--resume: another file" 1 "it does not hold results" "$austen" -f "$WORK/prompts" --over=mpi --resume "$WORK/prompts"
says "--resume alone" 2 "--resume without --over" "$austen" -f "$WORK/prompts" --resume "$WORK/kept"
says "--over of a prompt" 2 "--over gives lines of a file to ranks" "$austen" "It was" --over=mpi
says "--over and hashes" 2 "leave out --logits-hash" "$austen" -f "$WORK/prompts" --logits-hash --over=mpi
says "--over what" 2 "--over tcp: expected mpi" "$austen" -f "$WORK/prompts" --over=tcp

# rank 1 is stopped, or killed, once there are results
tell_second_rank
for _ in 1 2 3 4 5 6 7 8; do cat "$WORK/prompts"; done > "$WORK/many"
"$austen" -f "$WORK/many" -n 20 --seed 3 --over=mpi > "$WORK/one"
signalled() {
    rm -f "$PID_OF_RANK" "$WORK/kept"
    timeout 60 $MPIRUN -n 3 "$WORK/rank" "$austen" -f "$WORK/many" -n 20 --seed 3 --over=mpi -t 1 \
        --rank-timeout 1 --resume "$WORK/kept" > "$WORK/several" 2> "$WORK/err" < /dev/null &
    for _ in $(seq 400); do [ "$(stat -c %s "$WORK/kept" 2> "$WORK/log" || echo 0)" -gt 1000 ] && break; sleep 0.02; done
    kill "-$1" "$(cat "$PID_OF_RANK")"
    wait $!
}
signalled STOP
check "a rank that stands still: the others go on to the end (status $?)" test $? = 0
kill -KILL "$(cat "$PID_OF_RANK")" 2> "$WORK/log"
check "and it is named" grep -q "rank 1 ($(hostname)) has not answered for 1 seconds: its lines go to others" "$WORK/err"
same "with the same bytes" "$WORK/one" "$WORK/several"
signalled KILL
status=$?
check "a rank that is killed: the run ends (status $status)" test $status != 0 -a $status != 124
bytes=$(stat -c %s "$WORK/kept")
ranks 2 "$austen" -f "$WORK/many" -n 20 --seed 3 --over=mpi -t 1 --resume "$WORK/kept" > "$WORK/several"
same "--resume finishes it" "$WORK/one" "$WORK/several"

#!/bin/sh
# burin plan: its table against figures computed here from the shape, and its refusals. Needs no
# MPI.
. tests/lib.sh
plan() { "$BURIN" plan "$@" --read=10000000000; }
# of column N in the line of R ranks of a table
cell() { awk -v r="$1" -v n="$2" '$1 == r && NR > 2 { print $n }' "$WORK/table"; }

cp examples/cluster/llama-70b.json "$WORK/shape.json"
for network in 1G 10G; do
    sed -n "/^<!-- $network -->/,/^<!-- end/s/^    //p" examples/cluster/README.md > "$WORK/page"
    "$BURIN" plan "$WORK/shape.json" --quant=q4_0 --ranks=1,2,4,8 --network=$network --memory=16G --read=30G > "$WORK/table"
    same "the page's table for $network" "$WORK/table" "$WORK/page"
done
sh examples/cluster/plot.sh "$BURIN" > "$WORK/plot.svg"
same "the page's plot" examples/cluster/plot.svg "$WORK/plot.svg"
"$BURIN" plan examples/cluster/llama2-7b.json --quant=q4_0 --ctx=16 --ranks=1,2,4 --network=1G --read=2844000000 > "$WORK/table"
sed -n '/^## Against/,$s/^| \([124]\) | \([0-9.]*\).*/\1 \2/p' examples/cluster/README.md > "$WORK/page"
for n in 1 2 4; do echo "$n $(cell $n 2)"; done > "$WORK/got"
same "the page's comparison with distributed-llama" "$WORK/page" "$WORK/got"
plan "$WORK/shape.json" --quant=q4_0 --network=1G --memory=16G --ranks=1,2,4,8 > "$WORK/table"
# bytes of q4_0: 18 for 32 weights; a layer has qkv 10240, o 8192, gate and up 2 x 28672 columns, down 8192 from 28672
awk 'BEGIN {
    weights = 80 * (8192 * (10240 + 8192 + 2 * 28672) + 28672 * 8192) * 18 / 32; head = 8192 * 128256 * 18 / 32
    cache = 80 * 2 * 4 * 8 * 128 * 4096
    for (n = 1; n <= 8; n *= 2) printf "%.2f\n", ((weights + head + cache) / n + head) / 1e9
}' > "$WORK/memory"
for n in 1 2 4 8; do cell $n 7; done > "$WORK/got"
same "a 70B shape: memory of a rank" "$WORK/memory" "$WORK/got"
check "one rank sends nothing" test "$(cell 1 5)" = 0.0
# half of the columns to the other rank: of attention (8192) and gate and up (28672) as rows of int8, blocks of 44 bytes for 32; of
# o and down (8192 each) and the logits as floats. Queries, keys and values stay.
check "two ranks: bytes sent a token" test "$(cell 2 5)" = "$(awk 'BEGIN { printf "%.1f", (80 * (4 * 16384 + 36864 * 44 / 32) + 4 * 128256) / 2 / 1e3 }')"
check "what does not fit is marked" test "$(grep -c "does not fit --memory" "$WORK/table")" = 2
check "one rank: reading is all of it" test "$(cell 1 3)" = 100
check "one rank: tokens a second are the rate over the bytes" \
    awk -v got="$(cell 1 2)" 'BEGIN { all = 80 * (8192 * (10240 + 8192 + 57344) + 28672 * 8192) * 18 / 32 + 8192 * 128256 * 18 / 32
    all += 80 * 4 * 8 * 128 * 4096; want = 1e10 / all; exit !(got > want - 0.006 && got < want + 0.006) }'

plan examples/austen --ranks=1,2,4 --network=100G > "$WORK/table"
check "a model: a line for each number of ranks" test "$(wc -l < "$WORK/table")" = 5
check "a model: half of the columns are sent" test "$(cell 2 5)" = "$(awk 'BEGIN { printf "%.1f", 4 * (6 * (192 + 512 + 192) + 2048) / 2 / 1e3 }')"
for model in austen numbers "austen --quant=q8_0"; do
    # shellcheck disable=SC2086 # words
    "$BURIN" plan examples/$model -v --read=10G 2> "$WORK/log" | sed -n "/^times/,/gathers/p" > "$WORK/shares"
    same "$model: what ranks share, and where they gather" "tests/golden/ranks/$(echo "$model" | tr -d ' ')" "$WORK/shares"
done
says "numbers of ranks" 2 "--ranks=2,x: expected numbers of ranks with commas, 1 to 1024" plan "$WORK/shape.json" --ranks=2,x
says "a network" 2 "--network=2G: expected 1G, 10G, 100G or local" plan "$WORK/shape.json" --network=2G
says "a format of a shape" 2 '--quant=q4_k_m: of a shape, one format of `burin formats`, f32, f16 or bf16' plan "$WORK/shape.json" --quant=q4_k_m
echo '{"hidden_size": 8192}' > "$WORK/part.json"
says "a part of a shape" 1 "intermediate_size is missing" plan "$WORK/part.json"

#!/bin/sh
# Small ONNX models written here: a merged decoder (both branches of use_cache_branch), an
# unprovable mask, dimensions set by --dim and --max. The results are computed by hand, or equal the
# plain form of the same model.
. tests/lib.sh
model() { "$BUILD/tools/onnx_of_text" "$WORK/$1.onnx"; }
build() { "$BURIN" build -v "$WORK/$1.onnx" --mcpu=native -o "$WORK/$1" --report > "$WORK/$1.log" 2>&1; }

# ---- a decoder without cache, and the same merged: the branch with a past gives other numbers, so that taking it shows
table="0.9 -0.2 0.1 0.4 -0.5 0.8 0.3 -0.1 0.2 0.6 -0.7 0.5 -0.3 -0.4 0.9 0.1 0.7 0.1 0.5 -0.6 -0.8 0.3 0.2 0.4 0.1 -0.9 -0.4 0.3 0.5"
rest="ir 10
opset 23
tensor E f32 [8,4] raw $table 0.5 -0.1 -0.8
tensor H f32 [4,8] raw 0.3 -0.6 0.1 $table
input input_ids i64 [1,S]
node Gather E input_ids -> x
node Add x a -> h
node MatMul h H -> logits
output logits f32 [1,S,8]"
attend="q_num_heads=1 kv_num_heads=1 is_causal=1"
{ echo "$rest" && echo "node Attention x x x -> a : $attend"; } | model plain
{ echo "$rest" && cat << END; } | model merged
input past_key_values.0.key f32 [1,1,P,4]
input past_key_values.0.value f32 [1,1,P,4]
input use_cache_branch bool [1]
graph past
node Attention x x x _ past_key_values.0.key past_key_values.0.value -> b k v : $attend
node Neg b -> wrong
output wrong f32
output k f32
output v f32
end
graph fresh
node Attention x x x -> b k v : $attend
output b f32
output k f32
output v f32
end
node If use_cache_branch -> a present.0.key present.0.value : then_branch=graph:past else_branch=graph:fresh
output present.0.key f32
output present.0.value f32
END
for name in plain merged; do
    check "forms: the $name decoder builds" build "$name"
    check "forms: its attention is one" grep -qx 'attention  *1  *0' "$WORK/$name.log"
    for chunk in 1 64; do "$WORK/$name" --tokens 1,2,3,4,5,6,7,0,1 -n 3 --temp 0 --chunk $chunk --logits-hash; done > "$WORK/$name.out"
done
same "forms: a merged decoder is the one without a past" "$WORK/plain.out" "$WORK/merged.out"
check "forms: ... and says what became of its inputs" grep -q 'use_cache_branch: cache' "$WORK/merged.log"

# ---- values that the length of the text decides: a step of a text program has a part of the text, so none may become one
# lengths NAME: a decoder with the nodes of standard input between %h, the states, and %g
lengths() {
    { echo "$rest" | sed '/^node MatMul/d; /^output/d' && cat << END; } | model "$1"
node Attention x x x -> a : $attend
tensor i0 i64 [] raw 0
tensor i1 i64 [] raw 1
tensor v0 i64 [1] raw 0
tensor v1 i64 [1] raw 1
node Shape input_ids -> sizes
node Gather sizes i1 -> T
node Unsqueeze T v0 -> Tv
node Cast T -> Tf : to=1
node Range i0 T i1 -> r
node Sub T i1 -> last
node Unsqueeze last v0 -> lastv
$(cat)
node MatMul g H -> logits
output logits f32 [1,S,8]
END
}
echo "node Mul h Tf -> g" | lengths times-length
printf 'node Sub last r -> at\nnode Gather E at -> p\nnode Add h p -> g\n' | lengths from-the-end
printf 'node Equal r last -> e\nnode Cast e -> f : to=1\nnode Unsqueeze f v1 -> c\nnode Add h c -> g\n' | lengths last-marked
printf 'node Slice E lastv Tv v0 -> p\nnode Add h p -> g\n' | lengths row-of-table
printf 'node Expand Tf Tv -> n\nnode ReduceSum n v0 -> s : keepdims=0\nnode Mul h s -> g\n' | lengths sum-of-equals
printf 'node CumSum h i1 -> c\nnode Div c Tf -> g\n' | lengths mean-of-all
for name in times-length from-the-end last-marked row-of-table sum-of-equals mean-of-all; do
    says "forms: $name is no text" 1 "depends on the length of the whole text" "$BURIN" inspect "$WORK/$name.onnx" --as=text
done
printf 'node CumSum h i1 -> c\nnode Cast r -> f : to=1\nnode Unsqueeze f v1 -> n\nnode Sub c n -> g\n' | lengths mean-so-far
says "forms: sums up to each row are" 0 "graph    decode" "$BURIN" inspect "$WORK/mean-so-far.onnx" --as=text

# Its own key hidden like the later ones, by a large number: the first row weighs all of the text.
{
    printf 'tensor far f32 [] raw -30000\nnode Transpose x -> k : perm=[0,2,1]\nnode MatMul x k -> scores\n'
    printf 'node Unsqueeze r v1 -> q\nnode Less r q -> seen\nnode Where seen scores far -> masked\n'
    printf 'node Softmax masked -> p\nnode MatMul p x -> y\nnode Add h y -> g\n'
} | lengths earlier-alone
says "forms: what sees earlier keys alone is no text" 1 "weighs later positions" "$BURIN" inspect "$WORK/earlier-alone.onnx" --as=text

# ---- a mask of no form: all scores are equal, so each row is the mean of the values that it sees
mask="ir 10
opset 23
input v f32 [1,1,T,1]
output y f32 [1,1,T,1]
tensor zero f32 [] raw 0
node Mul v zero -> q
tensor M bool [4,4] raw 1 0 1 0 0 1 0 0 1 1 0 0 1 1 1 1
tensor origin i64 [2] raw 0 0
tensor axes i64 [2] raw 0 1
node Shape v -> n : start=2 end=3
node Concat n n -> end : axis=0
node Slice M origin end axes -> m"
{ echo "$mask" && echo "node Attention q q v m -> y"; } | model mask
{ echo "$mask" && cat << END; } | model mask_sum
tensor shown f32 [] raw 0
tensor hidden f32 [] raw -inf
node Where m shown hidden -> bias
node Transpose q -> k : perm=[0,1,3,2]
node MatMul q k -> s
node Add s bias -> b
node Softmax b -> p
node MatMul p v -> y
END
printf '\0\0\200\77\0\0\40\101\0\0\310\102' | npy '<f4' '1, 1, 3, 1' > "$WORK/v.npy" # 1, 10, 100
echo "50.5 10 5.5" > "$WORK/means"
for name in mask mask_sum; do
    check "forms: $name builds" "$BURIN" build "$WORK/$name.onnx" --max T=4 --mcpu=native -o "$WORK/$name"
    "$WORK/$name" --input v="$WORK/v.npy" --output "$WORK/out" && values "$WORK/out/y.npy" | od -An -tf4 | xargs > "$WORK/got"
    same "forms: $name stays an operand, and is right" "$WORK/means" "$WORK/got"
    "$BURIN" inspect "$WORK/$name.onnx" --max T=4 --stop-after=fuse > "$WORK/fused"
    check "forms: $name is an operand of attention" grep -q 'attention(.*bias=%' "$WORK/fused"
done

# ---- a loop that counts up to a size, as TensorFlow writes it: sums of x so far, as many as x has, and inputs by the file's names
model counts << 'END'
ir 10
opset 17
input x:0 f32 [T]
output y f32 [T]
tensor zero f32 [] raw 0
tensor i0 i32 [] typed 0
tensor i1 i32 [] typed 1
node Shape x:0 -> sizes
node Squeeze sizes -> length
node Cast length -> end : to=6
node Cast i0 -> first : to=1
node Cast end -> last : to=1
node Less first last -> more
graph body
input k i64 []
input go bool []
input i i32 []
input sum f32 []
input n i32 []
node Gather x:0 i -> element
node Add sum element -> next
node Identity next -> kept
node Add i i1 -> up
node Cast up -> from : to=1
node Cast n -> to : to=1
node Less from to -> again
output again bool []
output up i32 []
output next f32 []
output n i32 []
output kept f32 []
end
node Loop _ more i0 zero end -> a b c sums : body=graph:body
node Add sums x:0 -> y
END
printf '\0\0\200\77\0\0\40\101\0\0\310\102' | npy '<f4' 3 > "$WORK/x.npy" # 1, 10, 100
check "forms: a loop that counts builds" "$BURIN" build "$WORK/counts.onnx" --mcpu=native -o "$WORK/counts"
check "forms: ... and runs" "$WORK/counts" --input x:0="$WORK/x.npy" --output "$WORK/out"
check "forms: ... as often as x is long" test "$(values "$WORK/out/y.npy" | od -An -tf4 | xargs)" = "2 21 211"

# ---- dimensions
says "forms: --max is a bound" 0 "where T <= 3 {" "$BURIN" inspect "$WORK/mask.onnx" --max T=3 --stop-after=fuse
says "forms: --dim is a number" 0 '%v: f32[1, 1, 2, 1]' "$BURIN" inspect "$WORK/mask.onnx" --dim T=2 --stop-after=fuse
"$BURIN" inspect "$WORK/mask.onnx" --dim T=2 --stop-after=fuse > "$WORK/fused"
check "forms: ... and no symbol is left" sh -c "! grep -q '\[T\|T,\|T <=' '$WORK/fused'"

# ---- sizes that constants decide: four patches of 2 x 2 and a table of four positions; a mask as
# long as its scores
picture="ir 10
opset 20
input picture f32 [B,C,H,W]
node Cast picture -> p : to=1
tensor K f32 [1,1,2,2] raw 1 1 1 1
node Conv p K -> c : strides=[2,2]
tensor flat i64 [3] raw 0 0 -1
node Reshape c flat -> f
output y f32"
{ echo "$picture" && printf 'tensor P f32 [1,1,4] raw 1 2 3 4\nnode Add f P -> y\n'; } | model picture
{ echo "$picture" && printf 'tensor P f32 [1,1,6] raw 1 2 3 4 5 6\nnode Add f P -> y\n'; } | model wide
model lengths << 'END'
ir 10
opset 20
input x f32 [B,T]
input m f32 [B,S]
tensor start i64 [1] raw 0
tensor axis i64 [1] raw 1
node Shape x -> end : start=1 end=2
node Slice m start end axis -> cut
node Add x cut -> y
output y f32
END
inspect() { "$BURIN" inspect "$WORK/$1.onnx" --stop-after=infer; }
says "forms: channels and the square image are derived" 0 '%picture: f32[B, 1, 4, 4]' inspect picture
says "forms: ... and named" 0 '"H" is taken to be 4, which fits the constants here: --dim=H=N says otherwise' inspect picture
says "forms: --dim says another image" 0 '%picture: f32[B, 1, 2, 8]' "$BURIN" inspect "$WORK/picture.onnx" --dim H=2 --stop-after=infer
says "forms: no square image has six patches" 1 'shapes do not broadcast' inspect wide
says "forms: one length for two" 0 '%m: f32[B, T]' inspect lengths

# ---- sizes that must be equal: two names of one, the length of a trace, a bound; parts of a sum; two that share a table
model names << 'END'
ir 10
opset 20
input x f32 [B,T,4]
input m f32 [C,S,4]
tensor four i64 [1] raw 4
node Shape x -> b : start=0 end=1
node Shape m -> s : start=1 end=2
node Concat b s four -> shape : axis=0
node Reshape m shape -> r
node Transpose r -> k : perm=[0,2,1]
node MatMul x k -> y
output y f32
END
model trace << 'END'
ir 10
opset 20
input x f32 [1,T,4]
tensor start i64 [1] raw 0
tensor end i64 [1] raw 6
tensor axis i64 [1] raw 1
tensor one i64 [1] raw 1
tensor rest i64 [1] raw -1
tensor six f32 [1,6,4] raw 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6
node Shape x -> n : start=1 end=2
node Concat one n rest -> shape : axis=0
node Reshape six shape -> r
node ReduceMean x axis -> m : keepdims=1
node Add r m -> y
output y f32
END
says "forms: the length of a trace" 0 '"T" is taken to be 6, as in the trace that the file was made of' inspect trace
says "forms: two names of one batch" 0 '%m: f32[B, S, 4]' inspect names
says "forms: ... are told" 0 '"C" is taken to be "B", which alone fits here' inspect names
model traced << 'END'
ir 10
opset 20
input input_ids i64 [1,T]
tensor E f32 [4,2] raw 1 2 3 4 5 6 7 8
tensor shape i64 [3] raw 3 1 2
tensor back i64 [3] raw 1 3 2
node Gather E input_ids -> e
node Reshape e shape -> r
node Reshape r back -> logits
output logits f32
END
says "forms: the length of a trace" 0 '"T" is taken to be 3, which alone fits here' inspect traced
says "forms: ... makes no text program" 0 'it takes 3 tokens, no more and no fewer' "$BURIN" build "$WORK/traced.onnx" --mcpu=native -o "$WORK/traced"
model atmost << 'END'
ir 10
opset 20
input x f32 [B,T,4]
tensor four i64 [1] raw 4
tensor most i64 [1] raw 8
node Shape x -> n : start=1 end=2
node Shape x -> b : start=0 end=1
node Min n most -> few
node Concat b few four -> shape : axis=0
node Reshape x shape -> y
output y f32
END
says "forms: what must be min(8, T) is at most 8" 0 'T <= 8 {' inspect atmost
printf 'ir 10\nopset 20\ninput x f32 [P+T]\ninput z f32 [T]\nnode Neg x -> y\noutput y f32\n' | model parts
says "forms: a part of a sum is fixed" 0 '%x: f32[P + 1]' "$BURIN" inspect "$WORK/parts.onnx" --dim T=1 --stop-after=infer
model share << 'END'
ir 10
opset 20
input past f32 [P]
input x f32 [T]
tensor table f32 [8] raw 1 2 3 4 5 6 7 8
tensor eight i64 [1] raw 8
tensor end i64 [1] raw 99
node Concat past x -> all : axis=0
node Shape all -> n
node Sub eight n -> start
node Slice table start end -> bias
node Add all bias -> y
output y f32
END
says "forms: two lengths share a table" 0 'where P <= 4, T <= 4' inspect share
says "forms: ... or as they are told to" 0 'P <= 2, T <= 6' "$BURIN" inspect "$WORK/share.onnx" --max P=2,T=6 --stop-after=infer

says "forms: ... what --max names keeps its bound" 0 'where P <= 2, T <= 6' "$BURIN" inspect "$WORK/share.onnx" --max P=2 --stop-after=infer
model total << 'END'
ir 10
opset 20
input past f32 [B,P,4]
input x f32 [B,T,4]
input mask f32 [B,M]
tensor table f32 [8] raw 1 2 3 4 5 6 7 8
tensor start i64 [1] raw 0
tensor axis i64 [1] raw 2
node Concat past x -> all : axis=1
node Shape all -> n : start=1 end=2
node Slice table start n -> bias
node ReduceMean all axis -> mean : keepdims=0
node Add mean bias -> some
tensor none f32 [] raw 0
node Cast mask -> shown : to=9
node Where shown none some -> y
output y f32
END
says "forms: the length of a mask is a sum" 0 '"M" is taken to be "P + T", which alone fits here' inspect total
says "forms: ... of all its inputs" 0 '%mask: f32[B, P + T]' inspect total
says "forms: ... whose parts share a table" 0 'P <= 4, T <= 4' inspect total
says "forms: ... or the mask's bound" 0 'P <= 3, T <= 3' "$BURIN" inspect "$WORK/total.onnx" --max M=6 --stop-after=infer

# ---- an end that truncates, of a length that windows bound from below
model ends << 'END'
ir 10
opset 20
input x f32 [1,1,T]
tensor two i64 [1] raw 2
tensor zero i64 [1] raw 0
node Shape x -> n : start=2 end=3
node Sub n two -> less
node Div less two -> half
node AveragePool x -> p : kernel_shape=[2]
node Slice p zero half two -> y
output y f32
END
says "forms: an end counts from the shortest text with windows" 0 'f32[1, 1, min(T - 1, T // 2 - 1)]' inspect ends

# ---- padded to whole blocks, however many the run needs
model blocks << 'END'
ir 10
opset 20
input x f32 [B,T]
tensor four i64 [1] raw 4
node Shape x -> n : start=1 end=2
node Mod n four -> rest
node Sub four rest -> less
node Mod less four -> more
tensor none i64 [3] raw 0 0 0
node Concat none more -> pads : axis=0
node Pad x pads -> p
tensor shape i64 [3] raw 0 -1 4
node Reshape p shape -> y
output y f32 [B,S,4]
END
says "forms: pads of the run make whole blocks" 0 'f32[B, (T + 3) // 4, 4]' inspect blocks
check "forms: blocks build" build blocks
printf '\0\0\200\77\0\0\40\101\0\0\310\102' | npy '<f4' '1, 3' > "$WORK/x.npy"
echo "1 10 100 0" > "$WORK/padded"
"$WORK/blocks" --input x="$WORK/x.npy" --output "$WORK/out" && values "$WORK/out/y.npy" | od -An -tf4 | xargs > "$WORK/got"
same "forms: ... and are right" "$WORK/padded" "$WORK/got"

# ---- an extent that is an expression shows its symbol: dynamo's dim_param "2*s0"
model pairs << 'END'
ir 10
opset 20
input x f32 [B,2*T+1]
tensor start i64 [1] raw 1
tensor end i64 [1] raw 9223372036854775807
tensor axis i64 [1] raw 1
tensor shape i64 [3] raw 0 -1 2
node Slice x start end axis -> tail
node Reshape tail shape -> y
output y f32 [B,T,2]
END
check "forms: pairs build" build pairs
echo "10 100" > "$WORK/pair"
"$WORK/pairs" --input x="$WORK/x.npy" --output "$WORK/out" && values "$WORK/out/y.npy" | od -An -tf4 | xargs > "$WORK/got"
same "forms: 2 * T + 1 elements are T pairs behind the first" "$WORK/pair" "$WORK/got"
printf '\0\0\200\77\0\0\40\101' | npy '<f4' '1, 2' > "$WORK/even.npy"
says "forms: an even number is refused" 1 'the shape [1, 2], and x is f32[B, 2 * T + 1]' "$WORK/pairs" --input x="$WORK/even.npy"

# ---- T // 8 blocks of 8, as Longformer cuts them: T is a multiple of 8
model whole << 'END'
ir 10
opset 20
input x f32 [B,T]
tensor eight i64 [1] raw 8
tensor minus i64 [1] raw 0
node Shape x -> n : start=1 end=2
node Div n eight -> blocks
node Concat minus blocks eight -> shape : axis=0
node Reshape x shape -> y
output y f32
END
says "forms: whole blocks make a length a multiple" 0 '%x: f32[B, 8 * T_by_8]' inspect whole
# ---- halves doubled again and joined with their source, as in a UNet: sizes are multiples
halved="ir 10
opset 20
input x f32 [B,1,T]
tensor twice f32 [3] raw 1 1 2
node AveragePool x -> half : kernel_shape=[1] strides=[2]"
{ echo "$halved" && cat << 'END'; } | model halves
node Resize half _ twice -> whole : mode='nearest' coordinate_transformation_mode='asymmetric' nearest_mode='floor'
node Concat whole x -> y : axis=1
output y f32
END
{ echo "$halved" && cat << 'END'; } | model quarters
node AveragePool half -> quarter : kernel_shape=[1] strides=[2]
node Resize quarter _ twice -> h : mode='nearest' coordinate_transformation_mode='asymmetric' nearest_mode='floor'
node Add h half -> sum
node Resize sum _ twice -> whole : mode='nearest' coordinate_transformation_mode='asymmetric' nearest_mode='floor'
node Concat whole x -> y : axis=1
output y f32
END
says "forms: halves make a length even" 0 '%x: f32[B, 1, 2 * T_by_2]' inspect halves
says "forms: halves of halves make it a multiple of four" 0 '%x: f32[B, 1, 4 * T_by_4]' inspect quarters
printf '\0\0\200\77\0\0\40\101\0\0\310\102\0\0\200\277' | npy '<f4' 1,1,4 > "$WORK/four.npy"
"$BURIN" run "$WORK/quarters.onnx" --as=net --interpret --input x="$WORK/four.npy" --output "$WORK/out" > "$WORK/log" 2>&1 && values "$WORK/out/y.npy" | od -An -tf4 | xargs > "$WORK/got"
echo "2 2 101 101 1 10 100 -1" > "$WORK/quarters.txt"
same "forms: ... and are right" "$WORK/quarters.txt" "$WORK/got"
# ---- blocks of a batch of sequences: the number of these stays free
model whole_batch << 'END'
ir 10
opset 20
input x f32 [B,T,16]
tensor shape i64 [3] raw -1 4 48
node Reshape x shape -> y
output y f32
END
says "forms: whole blocks leave the number of sequences free" 0 '%x: f32[B, 12 * T_by_12, 16]' inspect whole_batch

# ---- a table of 39 positions, of which a signal of T samples takes one for every 16
model few << 'END'
ir 10
opset 20
input x f32 [T]
input table f32 [39,2]
tensor step i64 [1] raw 16
tensor zero i64 [1] raw 0
tensor one i64 [1] raw 1
tensor two i64 [2] raw 1 2
node Shape x -> samples
node Div samples step -> n
node Slice table zero n zero -> taken
node Concat n one -> shape : axis=0
node Expand x_of_all shape -> wide
node Mul wide taken -> y
tensor x_of_all f32 [1,1] raw 2
output y f32
END
says "forms: a length is as long as its table lets it be" 0 '%x: f32[T]' inspect few
says "forms: ... and no longer" 0 'T <= 639' inspect few

# ---- sizes of the trace: its own 18 rows in two parts, for B sequences of T
model parts << 'END'
ir 10
opset 20
input x f32 [B,T]
tensor all i64 [1] raw -1
tensor zero i64 [1] raw 0
tensor five i64 [1] raw 5
tensor most i64 [1] raw 18
node Reshape x all -> row
node Slice row zero five -> a
node Slice row five most -> b
node Concat a b -> parts : axis=0
node Shape parts -> shape
node Expand row shape -> y
output y f32
END
says "forms: the sizes of a trace are told" 1 'hint: --dim=B=1 --dim=T=18' inspect parts

# ---- keys and values, whose length a dynamo export names twice
model twice << 'END'
ir 10
opset 20
input k f32 [1,1,S]
input v f32 [1,1,U]
tensor heads i64 [2] raw 1 2
node Shape k -> n : start=2 end=3
node Concat heads n -> shape : axis=0
node Expand v shape -> y
node Add y k -> z
output z f32
END
says "forms: what an Expand reaches is equal" 0 '%v: f32[1, 1, S]' inspect twice
printf 'ir 10\nopset 20\ninput x f32 [P+Q]\nnode Neg x -> y\noutput y f32\n' | model sum
says "forms: a sum of two lengths shows neither" 1 'no input shows what "P" is' "$BURIN" build "$WORK/sum.onnx" --mcpu=native -o "$WORK/sum"

# ---- bounds that sizes decide: T - 1, ..., 0 as floats, as Transformer-XL counts distances; no less than k elements have k highest
model runs << 'END'
ir 10
opset 20
input x f32 [T]
tensor one i64 [] raw 1
tensor two i64 [1] raw 2
tensor minus f32 [] raw -1
node Size x -> n
node Sub n one -> last
node Cast last -> start : to=1
node Range start minus minus -> back
node TopK x two -> high at
output back f32
output high f32
END
printf '\0\0\200\77\0\0\40\101\0\0\310\102' | npy '<f4' 3 > "$WORK/three.npy"
check "forms: runs and highest of a free size" "$BURIN" run "$WORK/runs.onnx" --as=net --interpret \
    --input x="$WORK/three.npy" --output "$WORK/out"
{ values "$WORK/out/back.npy" && values "$WORK/out/high.npy"; } | od -An -tf4 | xargs > "$WORK/got"
echo "2 1 0 100 10" > "$WORK/runs.txt"
same "forms: ... are right" "$WORK/runs.txt" "$WORK/got"

# ---- x[x > 0] = 0 as dynamo writes it: as many zeros as there are indices, counted by a sum of truths
model masked << 'END'
ir 10
opset 18
input x f32 [T,4]
tensor zero f32 [] raw 0
tensor all i64 [1] raw -1
node Greater x zero -> positive
node NonZero positive -> columns
node Transpose columns -> places : perm=[1,0]
node Reshape positive all -> row
node Cast row -> truths : to=7
node ReduceSum truths -> count
node Expand zero count -> zeros
node ScatterND x places zeros -> y
output y f32
END
check "forms: as many values as truths" "$BURIN" build "$WORK/masked.onnx" --mcpu=native -o "$WORK/masked"
printf '\0\0\200\77\0\0\40\301\0\0\310\102\0\0\200\277' | npy '<f4' 1,4 > "$WORK/row.npy"
for run in "$WORK/masked" "$BURIN run $WORK/masked.onnx --as=net --interpret"; do
    $run --input x="$WORK/row.npy" --output "$WORK/out" && values "$WORK/out/y.npy" | od -An -tf4 | xargs
done > "$WORK/got"
printf '0 -10 0 -1\n0 -10 0 -1\n' > "$WORK/masked.txt"
same "forms: ... take the places of those that hold" "$WORK/masked.txt" "$WORK/got"

# ---- nearest elements at a scale that f32 does not have: 17 / 1.7 is 10
model larger << 'END'
ir 10
opset 18
input x f32 [1,1,16]
tensor scales f32 [3] raw 1 1 1.7
node Resize x _ scales -> y : mode='nearest' coordinate_transformation_mode='asymmetric' nearest_mode='floor'
output y f32
END
{ head -c 40 /dev/zero && printf '\0\0\200\77' && head -c 20 /dev/zero; } | npy '<f4' 1,1,16 > "$WORK/peak.npy"
check "forms: a scale of 1.7" "$BURIN" run "$WORK/larger.onnx" --as=net --interpret --input x="$WORK/peak.npy" --output "$WORK/out"
values "$WORK/out/y.npy" | od -An -v -tf4 | xargs > "$WORK/got"
echo "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0 0" > "$WORK/larger.txt"
same "forms: ... takes element 10 at 17" "$WORK/larger.txt" "$WORK/got"

# ---- PyTorch's scatter_reduce: the rank that an If declares is that of the branch which is never taken
model branch << 'END'
ir 10
opset 18
input x f32 [3,4]
tensor all i64 [1] raw -1
tensor no bool [] raw 0
graph flat
node Reshape x all -> a
output a f32
end
graph whole
node Neg x -> b
output b f32
end
node If no -> y : then_branch=graph:flat else_branch=graph:whole
output y f32 [12]
END
says "forms: the rank that an If declares is told" 0 'warning: y is f32[3, 4], which is not the shape that the model declares' inspect branch

# ---- ONNX Runtime's optimizer writes LayerNormalization into files of older opsets
for opset in 11 17; do
    model "norm$opset" << END
ir 8
opset $opset
input x f32 [T,4]
tensor g f32 [4] raw 1 2 1 1
tensor b f32 [4] raw 0 0 1 0
node LayerNormalization x g b -> y : axis=-1 epsilon=0.00001
output y f32
END
    "$BURIN" run "$WORK/norm$opset.onnx" --as=net --interpret --input x="$WORK/row.npy" --output "$WORK/out" && od -An -tx4 "$WORK/out/y.npy"
done > "$WORK/norms"
head -n "$(($(wc -l < "$WORK/norms") / 2))" "$WORK/norms" > "$WORK/norm11"
tail -n "$(($(wc -l < "$WORK/norms") / 2))" "$WORK/norms" > "$WORK/norm17"
check "forms: a layer norm of opset 11" test -s "$WORK/norm11"
same "forms: ... is that of opset 17" "$WORK/norm11" "$WORK/norm17"

# ---- products of bytes in a program whose sizes are all free: rows in blocks have a place of their own
weights=$(awk 'BEGIN { for (i = 0; i < 256; i++) print (i * 37 + 11) % 19 - 9 }' | xargs)
model bytes << END
ir 10
opset 18
input x f32 [B,T,32]
tensor W i8 [32,8] raw $weights
node DynamicQuantizeLinear x -> q scale zero
node MatMulInteger q W zero -> sums
node Cast sums -> floats : to=1
node Mul floats scale -> y
output y f32
END
check "forms: a dynamic product of bytes builds" "$BURIN" build "$WORK/bytes.onnx" --as=net --mcpu=native -o "$WORK/bytes"
for i in $(seq 48); do printf '\0\0\200\77\0\0\40\301\0\0\310\102\0\0\200\277'; done | npy '<f4' 2,3,32 > "$WORK/rows.npy"
"$WORK/bytes" --input x="$WORK/rows.npy" --hash > "$WORK/got"
"$BURIN" run "$WORK/bytes.onnx" --as=net --interpret --input x="$WORK/rows.npy" --hash > "$WORK/bytes.txt"
same "forms: ... with the interpreter's bits" "$WORK/bytes.txt" "$WORK/got"

# ---- kernels with other rows than their program: half of its tokens, by a step and by a window
rows='ir 10
opset 23
input ids i64 [T]
tensor none i64 [1] raw 0
tensor all i64 [1] raw 1000
tensor two i64 [1] raw 2
node Gather E ids -> e'
{ echo "$rows" && echo "tensor E f32 [8,4] raw $table 0.5 -0.1 -0.8" && cat << 'END'; } > "$WORK/half.part"
node Slice e none all none two -> x
END
{ echo "$rows" && echo "tensor E f32 [8,4] raw $table 0.5 -0.1 -0.8" && cat << 'END'; } > "$WORK/windows.part"
tensor W f32 [4,4,1] raw 0.9 -0.2 0.1 0.4 -0.5 0.8 0.3 -0.1 0.2 0.6 -0.7 0.5 -0.3 -0.4 0.9 0.1
node Transpose e -> et : perm=[1,0]
node Unsqueeze et none -> eb
node Conv eb W -> ec : strides=[2] kernel_shape=[1]
node Squeeze ec none -> es
node Transpose es -> x : perm=[1,0]
END
for form in half windows; do
    { cat "$WORK/$form.part" && cat << 'END'; } | model $form
node Transpose x -> xt : perm=[1,0]
node MatMul x xt -> bias
node Unsqueeze x none -> xb
node Attention xb xb xb bias -> y : q_num_heads=2 kv_num_heads=2
output y f32 [1,L,4]
END
    check "forms: attention over $form of the rows builds" "$BURIN" build "$WORK/$form.onnx" --as=net --mcpu=native -o "$WORK/$form"
    i=0 && while [ $i -lt 9 ]; do printf "\\$((i % 8))\0\0\0\0\0\0\0" && i=$((i + 1)); done | npy '<i8' 9 > "$WORK/ids.npy"
    "$BURIN" run "$WORK/$form.onnx" --as=net --interpret --input ids="$WORK/ids.npy" --hash > "$WORK/expected"
    for threads in 1 3; do "$WORK/$form" --input ids="$WORK/ids.npy" --hash -t $threads | diff - "$WORK/expected"; done > "$WORK/got" 2>&1
    check "forms: ... with the interpreter's bits" [ ! -s "$WORK/got" -a -s "$WORK/expected" ]
done

# ---- unbounded sizes: the largest run's memory, with the option that bounds it
cat << 'END' | model free
ir 8
opset 17
input x f32 [B,T,8]
tensor last i64 [] raw 2
node Transpose x -> t : perm=[0,2,1]
node MatMul x t -> s
node CumSum s last -> c
node MatMul c x -> y
output y f32 [B,T,8]
END
check "forms: free sizes build" build free
check "forms: ... and the plan says what bounds them" grep -q 'a run takes what its own sizes need; --max=B=N,T=N sets the largest' "$WORK/free.log"
says "forms: ... and so does --max-ram" 1 "that is the largest run: --max=B=N,T=N bounds its sizes" "$BURIN" build "$WORK/free.onnx" --max-ram 1G -o "$WORK/free"
check "forms: bounded sizes fit" "$BURIN" build "$WORK/free.onnx" --max-ram 1G --max B=4,T=128 --mcpu=native -o "$WORK/free"

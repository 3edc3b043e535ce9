printf 'graph decode(%%t: i32[R] {role="tokens"}, %%s: i32[R] {role="slots"}, %%p: i32[R] {role="positions"}, %%w: bool[R] {role="logit_rows"}) -> ("logits"=%%y) where 0 <= R <= 0 {\n  %%f = cast(%%t) {to=f32} : f32[R]\n  %%y = reshape(%%f) {shape=[R, 1]} : f32[R, 1]\n}\n' > x.ir
$BURIN build x.ir --start-from=layout -o x.c; s=$?; rm -r x.ir; exit $s

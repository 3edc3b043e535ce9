cat > x.ir <<'END'
graph decode(%t: i32[T] {role="tokens"}, %attention_mask: i32[T]) -> (%y) where T <= 64 {
  %e = constant {value=[0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]} : f32[4, 2]
  %x = gather(%e, %t) {axis=0}
  %k = transpose(%x) {perm=[1, 0]}
  %scores = matmul(%x, %k)
  %i = iota {axis=0, dims=[T, T]}
  %j = iota {axis=1, dims=[T, T]}
  %earlier = less_or_equal(%j, %i)
  %never = constant {value=-inf} : f32
  %causal = where(%earlier, %scores, %never)
  %zero = constant {value=0} : i32
  %hidden = equal(%attention_mask, %zero)
  %masked = where(%hidden, %never, %causal)
  %p = softmax(%masked) {axis=-1}
  %y = matmul(%p, %x)
}
END
$BURIN inspect x.ir --start-from=recognise; s=$?; rm x.ir; exit $s

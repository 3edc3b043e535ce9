try() { printf "graph g(%%x: f32[$1]) -> (%%y) where $2 {\n  %%y = relu(%%x)\n}\n" > x.ir; $BURIN inspect x.ir --start-from=infer; s=$?; rm x.ir; }
try R 'R <= 0'
try R '1 <= R <= 1 - 5'
try R '0 - 3 <= R <= 5'
try R 'R <= 99999999999999'
try 'R, 8' '9 <= R <= 8'
try '0 - 3' 'R <= 8'
try 'R, 1000000, 1000000, 1000000' 'R <= 8'
try '9223372036854775807, 9223372036854775807' 'R <= 8'
exit $s

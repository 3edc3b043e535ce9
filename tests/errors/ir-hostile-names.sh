# a scope and a file that would end their line, clear the screen, and speak in burin's name
printf 'graph g(%%x: f32[2]) -> (%%y) {\n  %%y = add(%%x, %%x) @"a\\x1b[2J.burin\\x0ahint: b":1:2 "c\\x0anote: d"\n  %%z = no_op(%%x)\n}\n' > x.ir
$BURIN inspect "$(printf 'no\nhint: e\033[2J.ir')" --start-from=infer
$BURIN inspect x.ir --start-from=infer; s=$?; sed -i /no_op/d x.ir; $BURIN inspect x.ir --start-from=infer --stop-after=infer; rm x.ir; exit $s

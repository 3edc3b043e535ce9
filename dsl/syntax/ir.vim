" Syntax of dumped graphs, .ir: copy to ~/.vim/syntax, and
"   au BufRead,BufNewFile *.ir set filetype=ir
if exists("b:current_syntax")
  finish
endif
syn match irComment "//.*$"
syn keyword irGraph graph where
syn match irValue "%[A-Za-z0-9_.]\+"
syn match irOp "=\s*\zs\l[a-z_0-9]*\ze[ ({]"
syn keyword irType f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool
syn region irString start=+"+ skip=+\\.+ end=+"\|$+
syn match irNumber "\<\(0x\x\+\|\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\)\>"
syn match irLocation "@[^ \t\"]\+:\d\+:\d\+"
hi def link irComment Comment
hi def link irGraph Keyword
hi def link irValue Identifier
hi def link irOp Function
hi def link irType Type
hi def link irString String
hi def link irNumber Number
hi def link irLocation Comment
let b:current_syntax = "ir"

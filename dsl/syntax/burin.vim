" Syntax of .burin descriptions: copy to ~/.vim/syntax, and
"   au BufRead,BufNewFile *.burin set filetype=burin
if exists("b:current_syntax")
  finish
endif
syn match burinComment "#.*$"
syn region burinString start=+"+ skip=+\\.+ end=+"\|$+ contains=burinInterpolation
syn region burinInterpolation matchgroup=Special start="{" end="}" contained contains=burinName,burinNumber
syn keyword burinKeyword model import config alias block graph for in at if else return fail ignore
syn keyword burinOperatorWord and or not
syn keyword burinConstant true false null
syn match burinNumber "\<\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\>"
syn match burinCall "\<\h\w*\ze("
syn match burinName "\<\h\w*\>" contained
hi def link burinComment Comment
hi def link burinString String
hi def link burinKeyword Keyword
hi def link burinOperatorWord Operator
hi def link burinConstant Constant
hi def link burinNumber Number
hi def link burinCall Function
let b:current_syntax = "burin"

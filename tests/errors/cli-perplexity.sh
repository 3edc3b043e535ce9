$BURIN build "$TOP/examples/austen" --perplexity text -o x.a
$BURIN build "$TOP/examples/austen" --mcpu=x86-64-v3 --perplexity none -o x > said 2>&1
grep perplexity said
rm x said

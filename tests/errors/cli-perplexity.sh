$BURIN build "$TOP/examples/austen" --perplexity text -o x.a
$BURIN build "$TOP/examples/austen" --perplexity none -o x
echo "It was a truth" > text
$BURIN build "$TOP/examples/austen" --perplexity text -o x
$BURIN build "$TOP/examples/austen" --perplexity text --window 1000 -o x
$BURIN build "$TOP/examples/numbers" --perplexity text -o x
rm text

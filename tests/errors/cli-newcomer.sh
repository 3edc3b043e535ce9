mkdir story
$BURIN story; $BURIN build story --temp 0.5; $BURIN build story --weights=x.burin
s=$?; rmdir story; exit $s

# a directory of one member, compressed as zip files can be and numpy does not
z() { head -c "$1" /dev/zero; }
{ z 32; printf 'PK\1\2'; z 6; printf '\14'; z 35; printf 'PK\5\6'; z 6; printf '\1'; z 5; printf '\40'; z 5; } > a.npz
"$BURIN" check "$TOP/examples/austen" --against a.npz
s=$?
rm a.npz
exit $s

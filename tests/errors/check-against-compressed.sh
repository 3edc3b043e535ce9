# a directory of one compressed member
z() { head -c "$1" /dev/zero; }
{ printf 'PK\1\2'; z 6; printf '\10'; z 35; printf 'PK\5\6'; z 6; printf '\1'; z 11; } > a.npz
"$BURIN" check "$TOP/examples/austen" --against a.npz
s=$?
rm a.npz
exit $s

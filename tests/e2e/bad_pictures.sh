#!/bin/sh
# 46 bad pictures: one message each, status 1, nothing on standard output, within seconds and 400 MB.
. tests/lib.sh
unsanitized "bad pictures: programs"
tar xJf tests/e2e/pictures.tar.xz -C "$WORK"
if ! "$BURIN" build "$WORK/vit" --mcpu=native --with=images -o "$WORK/p" > "$WORK/out" 2>&1 && grep -q -e "--with=images: there is no static" "$WORK/out"; then
    skip "bad pictures: with libpng and libjpeg" "they are not here"
    exit 0
fi
cd "$WORK" || exit 1
good=pictures

# bad FILE TEXT: the program names the file, and says TEXT of it
bad() {
    (ulimit -v 400000 && timeout 10 ./p "$1") > printed 2> message < /dev/null
    _got=$?
    _lines=$(grep -cv '^hint: ' message)
    if [ $_got = 1 ] && [ ! -s printed ] && [ "$_lines" = 1 ] && grep -qF -- "$1: $2" message; then
        ok "bad pictures: $1: $2"
    else
        not_ok "bad pictures: $1: status $_got, expected 1 and: $2"
        sed 's/^/# /' message
    fi
}
# made FILE TEXT OCTAL-AND-TEXT: a file with these bytes
made() { printf "$3" > "$1" && bad "$1" "$2"; }
# cut FILE BYTES TEXT: the beginning of a good one
cut_file() { head -c "$2" "$good/$1" > "cut$2_$1" && bad "cut$2_$1" "$3"; }

# ---- no pictures ----
made empty.png "it is empty" ''
made byte.png "it begins as no picture does" '\211'
made text.jpg "it begins as no picture does" 'a photo of a cat\n'
made page.jpg "it is HTML" '<!DOCTYPE html><html></html>'
made page2.png "it is HTML" '<html></html>'
made drawing.png "it is SVG" '<svg xmlns="http://www.w3.org/2000/svg"/>'
made paper.png "it is PDF" '%%PDF-1.7\n'
made archive.png "it begins as no picture does" 'PK\003\004aaaaaaaaaaaaaaaa'
made program.png "it begins as no picture does" '\177ELF\002\001\001'
made photo.webp "libwebp: " 'RIFF\044\000\000\000WEBPVP8 '
made photo.avif "it is AVIF" '\000\000\000\034ftypavif'
made photo.heic "it is HEIC" '\000\000\000\030ftypheic'
made scan.tif "it is TIFF" 'II*\000\010\000\000\000'
made scan2.tif "it is TIFF" 'MM\000*\000\000\000\010'
made array.npy "it is .npy" '\223NUMPY\001\000'
made bits.pbm "it is PBM" 'P4 8 8 aaaaaaaa'
made text.ppm "it is a PPM of text" 'P3 1 1 255 1 2 3\n'
made icon.ico "it begins as no picture does" '\000\000\001\000\001\000'

# ---- cut ----
for bytes in 9 30 45 600; do cut_file rgb.png $bytes "libpng: "; done
for bytes in 3 40 500 1200; do cut_file rgb.jpg $bytes ""; done
cut_file progressive.jpg 900 ""
cut_file rgb.bmp 30 "its header is cut"
cut_file rgb.bmp 500 "it is cut: the file ends"
cut_file rgb.ppm 9 ""
cut_file rgb.ppm 500 ""
cut_file palette.gif 10 "GIF: the file is cut"
cut_file palette.gif 500 "GIF: the file is cut"

# ---- damaged or too large ----
head='\211PNG\r\n\032\n\000\000\000\rIHDR'
made huge.png "it has 60000 x 60000 pixels: expected at most" "$head"'\000\000\352\140\000\000\352\140\010\002\000\000\000\017\260\342\025\000\000\000\144IDAT'
made sum.png "libpng: " "$head"'\000\000\000\001\000\000\000\001\010\002\000\000\000\000\000\000\000'
made zero.png "libpng: " "$head"'\000\000\000\000\000\000\000\001\010\002\000\000\000\000\000\000\000'
made huge.ppm "" 'P6 60000 60000 255\n'
made zero.ppm "" 'P6 0 5 255\n'
made deep.ppm "" 'P6 1 1 70000\naaaaaa'
made letters.ppm "" 'P6 a b c\n'
made long.ppm "" 'P6 99999999999999999999 1 255\n'
made huge.bmp "" 'BM\066\000\000\000\000\000\000\000\066\000\000\000\050\000\000\000\140\352\000\000\140\352\000\000\001\000\030\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
made packed.bmp "it has compression 1" 'BM\066\000\000\000\000\000\000\000\066\000\000\000\050\000\000\000\002\000\000\000\002\000\000\000\001\000\010\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
made none.gif "GIF: " 'GIF89a\001\000\001\000\000\000\000;'
made huge.gif "" 'GIF89a\377\377\377\377\000\000\000,\000\000\000\000\377\377\377\377\000\010\000;'
made frames.jpg "" '\377\330\377\300\000\021\010\352\140\352\140\003\001\042\000\002\021\001\003\021\001'
mkdir folder.png
says "bad pictures: a folder" 1 "folder.png" ./p folder.png
says "bad pictures: not there" 1 "cannot read nowhere.png: No such file" ./p nowhere.png
printf 'P6 1 1 255\naaa' > one.ppm
check "bad pictures: one pixel is enough" ./p one.ppm

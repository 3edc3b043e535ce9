# Programs for Windows, run by wine: for scripts that have read tests/lib.sh.
windows=--target=x86_64-windows-gnu
wine_files=/usr/lib/x86_64-linux-gnu/wine/x86_64-windows
has_mingw() { [ -e /usr/x86_64-w64-mingw32/include/stdio.h ] && command -v x86_64-w64-mingw32-ld > /dev/null; }
has_wine() { [ -x /usr/lib/wine/wine64 ] && [ -e $wine_files/kernel32.dll ]; }

# A drive for a console program: wine's own way to make one takes ten seconds and 700 MB.
wine_drive() {
    export WINEPREFIX="$WORK/wine" WINEDEBUG=-all
    mkdir -p "$WINEPREFIX/drive_c/windows/system32"
    echo disable > "$WINEPREFIX/.update-timestamp"
    for _file in kernel32.dll kernelbase.dll ntdll.dll msvcrt.dll ucrtbase.dll advapi32.dll sechost.dll start.exe conhost.exe; do
        ln -s $wine_files/$_file "$WINEPREFIX/drive_c/windows/system32/$_file"
    done
    trap '/usr/lib/wine/wineserver64 -k; rm -rf "$WORK"' EXIT
}
wine() { timeout 120 /usr/lib/wine/wine64 "$@"; }

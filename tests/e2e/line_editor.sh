#!/bin/sh
# --line-editor: a conversation on a pseudo-terminal, its lines edited by libedit. What arrived is what /save wrote.
. tests/lib.sh
need "line_editor: austen as a program" examples/austen/model.safetensors
unsanitized "line_editor: conversations"
mkdir "$WORK/model"
for file in config.json model.safetensors tokenizer.json tokenizer_config.json; do ln -s "$PWD/examples/austen/$file" "$WORK/model/$file"; done
echo '{% for m in messages %}{{ bos_token + m.content + eos_token }}{% endfor %}' > "$WORK/model/chat_template.jinja"
model=$WORK/model

# A missing editor is an error if requested, and silently left out otherwise.
says "line_editor: no such kind" 2 "--line-editor=emacs: expected one of auto, libedit, none" "$BURIN" build "$model" --line-editor=emacs -o "$WORK/x"
says "line_editor: another machine" 2 "--line-editor=libedit: programs for aarch64-linux-gnu are built without" \
    "$BURIN" build "$model" --line-editor=libedit --target=aarch64-linux-gnu -o "$WORK/x"
says "line_editor: musl" 2 "programs for x86_64-linux-musl are built without" "$BURIN" build "$model" --line-editor=libedit --target=x86_64-linux-musl -o "$WORK/x"
says "line_editor: a folder of C" 2 "x.c: --line-editor=libedit makes a program" "$BURIN" build "$model" --line-editor=libedit -o "$WORK/x.c"
check "line_editor: none: builds" "$BURIN" build "$model" --mcpu=native --line-editor=none -o "$WORK/plain"
check "line_editor: none: it says so" sh -c "'$WORK/plain' --info | grep -qx 'editor    none'"
says "line_editor: none: --history" 2 "--history: this program has no line editor" "$WORK/plain" --chat --history "$WORK/x"
if ! "$BURIN" build "$model" --mcpu=native --line-editor=libedit -o "$WORK/talk" > "$WORK/out" 2>&1 && grep -q -e "--line-editor=libedit: there is no static libedit with its headers here" "$WORK/out"; then
    skip "line_editor: with libedit" "it is not here"
    exit 0
fi
for cc in gcc clang-19; do
    for file in runtime/editor/*.c; do
        check "$file: no warnings of $cc" $cc -std=gnu17 -D_GNU_SOURCE -DBURIN_EDITOR=1 -O1 -Wall -Wextra -Werror -Iruntime -c "$file" -o "$WORK/object"
    done
done
check "line_editor: libedit: builds" grep -q ", with libedit;" "$WORK/out"
check "line_editor: libedit: it says so" sh -c "'$WORK/talk' --info | grep -qx 'editor    libedit'"
"$BURIN" build "$model" --mcpu=native -o "$WORK/auto" > "$WORK/out" 2>&1
check "line_editor: auto is libedit where it is" cmp -s "$WORK/auto" "$WORK/talk"

# types NAME EXPECTED [OPTION...] < SCRIPT: the contents of the conversation's questions, a line each
types() {
    _name=$1 _expected=$2
    shift 2
    {
        printf 'expect Ctrl-D leaves\nexpect \\n> \n'
        sed '/^send .*[^\\]\\n$/s/$/\nexpect \\n> /'
        printf 'send /save %s\\n\nexpect \\n> \nsend \\d\n' "$WORK/saved"
    } > "$WORK/script"
    rm -f "$WORK/saved"
    TERM=xterm "$BUILD/tools/terminal" "$WORK/script" "$WORK/talk" --chat --temp 0 -n 1 "$@" > "$WORK/said" 2>&1
    _status=$?
    sed -n 's/.*"role": "\(user\|system\)", "content": "\(.*\)"}[],]*$/\2/p' "$WORK/saved" > "$WORK/got" 2> /dev/null
    check "line_editor: $_name: $(head -c 100 "$WORK/got" | tr '\n' ' ')" test $_status = 0 -a "$(cat "$WORK/got")" = "$_expected"
    grep -q "not seen" "$WORK/said" && sed 's/^/# /' "$WORK/said"
}

types "arrow up repeats; left, Home, End, Delete edit" "one
two
atwobs" << 'END'
send one\n
send wo\e[Dx\e[D\e[3~\e[1~t\n
send \e[A\e[A\e[B\e[Ha\e[Fbx\e[D\e[3~s\n
END
types "wide and accented characters are one key each" "é日語x" << 'END'
send 日本\e[D\e[Dé\e[C\e[3~\e[F語\e[Dy\e[D\e[3~\e[Fx\n
END
types "a narrower terminal" "a line of more than twenty characters!" << 'END'
send a line of more than twenty 
width 20
send characters!\n
END
types "Ctrl-C drops the lines of a message" "It was" << 'END'
send half a message \\\n
expect . 
send and more\c
expect \n> 
send It was\n
END
types "lines that go on" 'one \u000atwo' << 'END'
send one \\\n
expect . 
send two\n
END
types "a pasted text" 'one\u000atwo
three' << 'END'
send \e[200~one\ntwo\e[201~\n
send three\n
END
types "a block" 'one\u000atwo' << 'END'
send """one\ntwo"""\n
END
types "1,000 characters" "$(printf 'x%.0s' $(seq 1000))" << 'END'
send /system 
repeat 1000 x
send \n
END
# Titles, colours, terminal queries, sixels, C1 and invalid UTF-8
printf 'send \\e]0;a\007b\\e[31mc\\e[6n\\eP1;2qd\302\233e\377f\\e[999;999H\\e[200~g\\n\nexpect \\n> \n' > "$WORK/hostile"
types "escape sequences that are pasted" "$(printf '0;abmcn1;2qde\357\277\275f99;999Hg')" < "$WORK/hostile"
check "line_editor: and none reaches the terminal" sh -c "! grep -qa '$(printf '\033')\]\|$(printf '\033')\[\(31m\|6n\|999\)\|$(printf '\033')P\|$(printf '\302\233')' '$WORK/said'"

# --history F keeps lines, across conversations
types "a history is made" "first
second" --history "$WORK/lines" << 'END'
send first\n
send second\n
END
printf 'third' >> "$WORK/lines"
printf 'send \\e[A\\n\nsend \022firs\005!\\n\n' > "$WORK/keys"
types "and read; Ctrl-R finds" "third
first!" --history "$WORK/lines" < "$WORK/keys"
printf 'first\nsecond\n/save %s\nthird\nthird\nfirst!\n/save %s\n' "$WORK/saved" "$WORK/saved" > "$WORK/expected"
same "line_editor: what the file holds" "$WORK/expected" "$WORK/lines"
check "line_editor: nobody else reads it" test "$(stat -c %a "$WORK/lines")" = 600

# refuses NAME FILE TEXT
refuses() {
    printf 'expect %s\n' "$3" > "$WORK/script"
    TERM=xterm "$BUILD/tools/terminal" "$WORK/script" "$WORK/talk" --chat --history "$2" > "$WORK/said" 2>&1
    check "line_editor: $1" test $? = 1
}
ln -s "$WORK/lines" "$WORK/link"
refuses "a history that is a program" "$WORK/talk" "it is no text"
refuses "a history that is a link" "$WORK/link" "it is a link, and those are not followed"
refuses "a history in no folder" "$WORK/nowhere/lines" "No such file"
refuses "a history that is a folder" "$WORK/model" "it is no file"
says "line_editor: a history without a conversation" 2 "--history is of a conversation" "$WORK/talk" "It was" --history "$WORK/lines"
check "line_editor: a pipe is read as before" sh -c "printf 'one\n/save $WORK/piped\n' | '$WORK/talk' --chat -n 1 > /dev/null && grep -q '\"one\"' '$WORK/piped'"
printf 'expect > \nsend one\\n\nexpect > \nsend \\d\n' > "$WORK/script"
TERM=dumb "$BUILD/tools/terminal" "$WORK/script" "$WORK/talk" --chat -n 1 > "$WORK/said" 2>&1
check "line_editor: a terminal that cannot move its cursor" test $? = 0

printf 'expect \\n> \nsend one\\n\nmore 12\nsend \\d\n' > "$WORK/script"
TERM=xterm "$BUILD/tools/terminal" "$WORK/script" "$WORK/talk" --chat -n 300 > "$WORK/said" 2>&1
check "line_editor: Ctrl-D while it answers" test $? = 0

# A conversation that is ended from elsewhere leaves the terminal as it was.
printf 'expect before\nexpect > \nhangup\n' > "$WORK/script"
check "line_editor: nothing is left of a terminal that vanishes" sh -c "
    TERM=xterm '$BUILD/tools/terminal' '$WORK/script' /bin/sh -c 'echo before; exec \"$WORK/talk\" --chat'; test \$? = 129"
printf 'expect > \nsend abc\nexpect abc\nsend \\n\nexpect same\n' > "$WORK/script"
cat > "$WORK/ended.sh" << END
before=\$(stty -g)
(sleep 1; kill -TERM \$(cat '$WORK/pid')) &
sh -c 'echo \$\$ > "$WORK/pid"; exec "$WORK/talk" --chat'
[ "\$(stty -g)" = "\$before" ] && echo same
END
TERM=xterm "$BUILD/tools/terminal" "$WORK/script" /bin/sh "$WORK/ended.sh" > "$WORK/said" 2>&1
check "line_editor: a terminal is set back when the program is ended" grep -q same "$WORK/said"

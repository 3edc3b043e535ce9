# What zsh makes of a line when Tab is pressed, by the _burin in a folder, a line each. usage: zsh -f complete.zsh FOLDER LINE...
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1= PROMPT= RPROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word"
zpty -w shell "show() { print -r -- \"<<\$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show; echo 'compl'eted"
shift
zpty -r -m shell seen '*completed*'
for line; do
    zpty -w -n shell "$line"$'\t\x18'
    zpty -r -m shell seen '*<<*>>*'
    print -r -- "${${seen##*<<}%%>>*}"
done
zpty -d shell

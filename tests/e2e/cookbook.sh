#!/bin/sh
# Runs the `sh` blocks of examples/README.md as they are, in order and in one folder; every option of its other blocks exists.
. tests/lib.sh
unsanitized "cookbook"
ln -s "$PWD/examples" "$WORK/examples"
PATH=$(cd "$BUILD" && pwd):$PATH
awk -v to="$WORK" '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on { print > (to "/commands") }
    /^```console$/ { shown = 1; next } /^```/ { shown = 0 } shown { print > (to "/shown") }' examples/README.md

cd "$WORK" || exit 1
while read -r command; do
    name=$(printf "%s" "${command%%#*}" | tr -d "\\\\")
    sh -c "$command" > said 2>&1 < /dev/null && ok "cookbook: $name" || { not_ok "cookbook: $name" && sed 's/^/# /' said | head; }
done < commands
{ for command in build run check explain template; do burin $command --help; done; ./austen --help; ./austen --help-all; } > helps 2> /dev/null
for option in $(sed 's/ #.*//' shown | grep -oE -- '--[a-z-]+' | sort -u); do
    case $option in
        --embeddings | --image | --media-path | --pair | --rank | --similarity | --top-k | --format | --language | --translate | --srt | --vtt | --speed | --phonemes | --csv | --vad | --condition | --word-timestamps) continue ;; # models that do not ship
        --api-key | --parallel | --serve) continue ;;                                                           # programs with a server
    esac
    check "cookbook: $option exists" grep -qE -- "$option([^a-z-]|$)" helps
done

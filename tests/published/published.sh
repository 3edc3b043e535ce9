#!/bin/sh
# Published config.json files: each builds with the numbers of transformers, or is refused with its
# reason.
. tests/lib.sh
mkdir "$WORK/models" "$WORK/refused"
for _config in $FIXTURES/published/*/config.json; do
    _name=${_config%/config.json}
    _name=${_name##*/}
    case $_name in refused-*) _folder=$WORK/refused/$_name ;; *) _folder=$WORK/models/$_name ;; esac
    "$BUILD/tools/family_weights" "$FIXTURES/published/$_name" "$_folder" || not_ok "weights of $_name"
done
"$BUILD/tools/family" "$WORK"/models/* > "$WORK/results" 2> "$WORK/messages"
sed 's/^\(ok\|not ok\) - family/\1 - published:/' "$WORK/results"
sed 's/^/# /' "$WORK/messages"

# refused NAME MESSAGE
refused() { says "published: $1 is refused" 1 "$2" "$BURIN" inspect "$WORK/refused/refused-$1"; }
refused embeddinggemma '"use_bidirectional_attention": true is not supported by gemma3_text.burin'

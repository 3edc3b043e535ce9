#!/bin/sh
# Random expressions and blocks, as transformers renders them (PYTHON has it and jinja2).
. tests/lib.sh
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import transformers, jinja2' 2> /dev/null || { skip "templates: random ones" "no package transformers" && exit 0; }
for _seed in 1 2 3; do
    "$PYTHON" tests/templates/random_templates.py $_seed 2000 > "$WORK/cases.json"
    "$BUILD/tools/templates" "$WORK/cases.json" > "$WORK/got" 2> /dev/null
    check "templates: random ones, seed $_seed" test $? = 0
    grep -v '^{' "$WORK/got" | tail -1 | sed 's/^/# /'
done

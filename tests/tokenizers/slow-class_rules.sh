#!/bin/sh
# All classes of transformers 5 (PYTHON has them), all fields and all texts, computed anew.
. tests/lib.sh
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import transformers, sentencepiece; assert int(transformers.__version__.split(".")[0]) >= 5' 2> /dev/null ||
    { skip "class rules: all classes of transformers 5" "no package transformers of version 5" && exit 0; }
mkdir "$WORK/folder"
check "class rules: the cases" "$PYTHON" tests/tokenizers/class_rules.py "$WORK/cases.json" --all
check "class rules: all of them" "$BUILD/tools/class_cases" "$WORK/cases.json" "$WORK/folder"

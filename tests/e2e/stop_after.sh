#!/bin/sh
# --stop-after of every pass prints what --dump-ir of the whole pipeline has there: of a decoder, of an
# encoder-decoder, of a network and a decoder in ONNX.
. tests/lib.sh
for family in llama-tied mt5; do "$BUILD/tools/family_weights" $FIXTURES/families/$family "$WORK/$family"; done
passes=$(sed -n 's/^PASS([a-z]*, \([a-z_]*\),.*/\1/p' compiler/passes.def)

# stops NAME MODEL...
stops() {
    _name=$1 _wrong=
    shift
    "$BURIN" inspect "$@" --dump-ir="$WORK/$_name" > /dev/null 2> "$WORK/said" || sed 's/^/# /' "$WORK/said"
    for _pass in $passes; do
        "$BURIN" inspect "$@" --stop-after="$_pass" 2> /dev/null | sed -n '/^graph /,$p' > "$WORK/text"
        sed 1d "$WORK/$_name"/[0-9]*-"$_pass.ir" | cmp -s - "$WORK/text" || _wrong="$_wrong $_pass"
    done
    check "stop-after: $_name, $(echo "$passes" | wc -w) passes${_wrong:+, not$_wrong}" [ -z "$_wrong" ]
}
stops llama "$WORK/llama-tied"
stops t5 "$WORK/mt5"
stops network tests/e2e/onnx_found/epi-M6/model.onnx
need "stop-after: onnx" "$SHARED/data/onnx/exports/llama-optimum-nocache/model.onnx"
stops onnx "$SHARED/data/onnx/exports/llama-optimum-nocache/model.onnx"

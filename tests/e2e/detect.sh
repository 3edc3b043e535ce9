#!/bin/sh
# Where somebody speaks, by a network with Silero's inputs and outputs, written here: the spans that Silero's own function makes of ONNX
# Runtime's probabilities of this file; pipes, JSON, other rates, other shapes.
. tests/lib.sh
tar -xJf tests/e2e/whisper/tiny.tar.xz -C "$WORK"
tiny=$WORK/tiny
# The energy of a window, and a state that follows it, are speech where they are large.
detector() {
    "$BUILD/tools/onnx_of_text" "$WORK/$1.onnx" << END
ir 8
opset 13
tensor loud f32 [] raw 40
tensor least f32 [] raw -3
tensor half f32 [] raw 0.25
tensor rate f32 [] raw 0.000001
input input f32 [batch,$2]
input state f32 [2,batch,3]
input sr i64 []
node Mul input input -> square
node ReduceMean square -> energy : axes=[1] keepdims=1
node Mul energy loud -> force
node Mul state half -> old
node Add old force -> stateN
node ReduceMean stateN -> mean : axes=[0,2] keepdims=0
node Unsqueeze mean one -> column
tensor one i64 [1] raw 1
node Cast sr -> hertz : to=1
node Mul hertz rate -> little
node Add column least -> lower
node Add lower little -> logit
node Sigmoid logit -> output
output output f32 [batch,1]
output stateN f32 [2,batch,3]
END
}
detector vad sequence
check "detect: builds" "$BURIN" build "$WORK/vad.onnx" -o "$WORK/vad"
"$WORK/vad" "$tiny/long.wav" > "$WORK/got"
cat > "$WORK/expected" << END
0.000 0.446
0.610 1.150
1.314 1.854
2.018 2.600
END
same "detect: spans" "$WORK/expected" "$WORK/got"
"$WORK/vad" - < "$tiny/long.wav" > "$WORK/got"
same "detect: a pipe" "$WORK/expected" "$WORK/got"
"$WORK/vad" "$tiny/long.wav" -t 2 --cpu x86-64-v3 > "$WORK/got" 2> "$WORK/log" || cp "$WORK/expected" "$WORK/got"
same "detect: another CPU" "$WORK/expected" "$WORK/got"
"$WORK/vad" "$tiny/short.wav" "$tiny/long.wav" > "$WORK/got"
check "detect: the name of each of several recordings" test "$(grep -c "long.wav$" "$WORK/got")" -eq 4
"$WORK/vad" "$tiny/long.wav" --format json | sed 's/.*"seconds"/"seconds"/' > "$WORK/got"
echo '"seconds": 2.600, "spans": [{"start": 0.000, "end": 0.446}, {"start": 0.610, "end": 1.150}, {"start": 1.314, "end": 1.854}, {"start": 2.018, "end": 2.600}]}' > "$WORK/expected"
same "detect: JSON" "$WORK/expected" "$WORK/got"
says "detect: a text" 1 "does not begin as a WAV file does" "$WORK/vad" "$0"
says "detect: no recording" 1 "which recording?" "$WORK/vad"
says "detect: --format npy" 2 "expected text or json" "$WORK/vad" "$tiny/long.wav" --format npy
says "detect: tensors" 0 "input  sr: i64" "$BURIN" run "$WORK/vad.onnx" --as=net -- --info
check "detect: 8,000 samples a second" "$BURIN" build "$WORK/vad.onnx" --bind=sr=8000 --mcpu=native -o "$WORK/vad8"
says "detect: windows of 8,000 samples a second" 0 "input: f32[1, 288]" "$WORK/vad8" --info

# Another window is no detector: tensors are left.
detector other 100
says "detect: another window" 0 "output: f32[1, 1]" "$BURIN" run "$WORK/other.onnx" -- --info

. "$TOP/tests/errors/inc/onnx_files.sh"
encoder
decoder d.onnx w scores 'input words f32 [1,T]' 'node Cast words -> w : to=7'
build e.onnx d.onnx

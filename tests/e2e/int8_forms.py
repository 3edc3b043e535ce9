#!/usr/bin/env python3
# Makes tests/e2e/int8_forms.tar.xz: a tiny decoder, exported by dynamo, quantized statically by ONNX Runtime's tools: as QLinear operators,
# its table of tokens too, and its output has no name that says what it is; with the scores, masked by -3.4e38, calibrated into bytes;
# and dynamically with attention's products, whose two operands are computed, as the tools write it and as ONNX Runtime's optimizer does.
# Beside each ONNX Runtime's results for PROMPT. Needs torch, transformers, onnxruntime; the tests do not. usage: int8_forms.py OUT.tar.xz
import os, sys, tarfile, tempfile
import numpy as np
import onnxruntime, torch, transformers
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

PROMPT = np.array([[20, 9, 27, 46, 12, 41, 3, 33, 26]])
FORMS = {"qlinear": dict(quant_format=QuantFormat.QOperator, op_types_to_quantize=["MatMul", "Gather"]),
         "masked": dict(quant_format=QuantFormat.QDQ, op_types_to_quantize=["MatMul", "Softmax"])}


class Once(CalibrationDataReader):
    def __init__(self):
        self.feeds = iter([{"input_ids": PROMPT}])

    def get_next(self):
        return next(self.feeds, None)


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=48, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=64, attn_implementation="eager")).eval()

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


torch.manual_seed(1)
decoder = Decoder()
for p in decoder.parameters():
    if p.dim() > 1:
        p.data.uniform_(-1, 1).mul_(1.6 / p.shape[-1] ** 0.5)
with tarfile.open(sys.argv[1], "w:xz") as archive, tempfile.TemporaryDirectory() as folder:
    plain, model, results = (os.path.join(folder, n) for n in ("plain.onnx", "model.onnx", "scores.npy"))
    torch.onnx.export(decoder, (torch.from_numpy(PROMPT),), plain, dynamo=True, input_names=["input_ids"], output_names=["scores"],
                      dynamic_shapes={"input_ids": {1: torch.export.Dim("sequence")}}, external_data=False)
    def session(level, written=""):
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level, settings.optimized_model_filepath = level, written
        return onnxruntime.InferenceSession(model, settings)

    def add(name):
        np.save(results, session(onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL).run(None, {"input_ids": PROMPT})[0])
        for file in (model, results):
            archive.add(file, f"{name}/{os.path.basename(file)}")

    for name, options in FORMS.items():
        quantize_static(plain, model, Once(), activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, **options)
        add(name)
    np.save(results, decoder(torch.from_numpy(PROMPT)).detach().numpy())
    archive.add(results, "plain/scores.npy")
    quantize_dynamic(plain, model, weight_type=QuantType.QUInt8, op_types_to_quantize=["MatMul"], extra_options={"MatMulConstBOnly": False})
    add("dynamic")
    session(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, optimized := os.path.join(folder, "optimized.onnx"))
    os.replace(optimized, model)
    add("optimized")

"""Writes against.tar.xz: tiny models with random weights and what their modules give (tests/tools/record.py).

usage: against.py, from the top folder, with torch, transformers, onnx and onnxruntime"""
import os
import shutil
import subprocess
import sys

import numpy
import onnx
import onnxruntime
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "against")
SIZES = dict(vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=2, max_position_embeddings=32, rms_norm_eps=1e-5, initializer_range=0.3)


def write(name, model, *texts):
    folder = os.path.join(OUT, name)
    model.save_pretrained(folder)
    subprocess.run([sys.executable, "tests/tools/record.py", folder, f"{folder}.npz", *texts], check=True)


def record_onnx(path, values):
    model = onnx.load(path)
    for name in values:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    image = numpy.random.default_rng(7).random((1, 1, 8, 8), dtype=numpy.float32)
    names = [o.name for o in session.get_outputs()]
    values = dict(zip(names, session.run(None, {"image": image})), image=image)
    numpy.savez(os.path.join(OUT, "digits.npz"), **values)
    numpy.savez_compressed(os.path.join(OUT, "compressed.npz"), **values)


torch.manual_seed(1)
shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
write("llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)), "1,5,9,3,30,7")
write("albert", transformers.AlbertModel(transformers.AlbertConfig(
    vocab_size=40, hidden_size=16, embedding_size=8, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
    max_position_embeddings=32, initializer_range=0.3)), "1,5,9,3,30,7")
write("t5", transformers.T5ForConditionalGeneration(transformers.T5Config(
    vocab_size=40, d_model=16, d_ff=24, d_kv=8, num_layers=1, num_heads=2, decoder_start_token_id=0)), "1,5,9,3", "0,7,8")
record_onnx("examples/digits/digits.onnx", sys.argv[1:])
subprocess.run(["tar", "cJf", f"{OUT}.tar.xz", "-C", HERE, "--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0",
                "--numeric-owner", "against"], check=True)
shutil.rmtree(OUT)

"""Makes tests/formats/experts: a GGUF whose experts are one tensor a layer and projection, in blocks, and transformers' logits of the
values that these blocks stand for.

    python tests/formats/experts.py        needs gguf, numpy, torch, transformers; family_weights made FOLDER of tests/families/qwen3_moe
    usage: experts.py FOLDER
"""
import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from gguf.quants import dequantize, quantize
from transformers import AutoModelForCausalLM

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "families"))
from write_gguf import metadata, stacked

TYPES = {"gate_proj": gguf.GGMLQuantizationType.Q8_0, "up_proj": gguf.GGMLQuantizationType.Q4_0,
         "down_proj": gguf.GGMLQuantizationType.Q8_0}
HERE = pathlib.Path(__file__).parent / "experts"


def main(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    state = {name: t.numpy().copy() for name, t in model.state_dict().items()}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3MOE, model.config.num_hidden_layers)
    HERE.mkdir(exist_ok=True)
    writer = gguf.GGUFWriter(HERE / "model.gguf", "qwen3moe")
    metadata(writer, "qwen3moe", json.loads((pathlib.Path(folder) / "config.json").read_text()))
    for hf, w in stacked(state).items():
        kind = TYPES.get(hf.split(".")[-2]) if ".experts." in hf else None
        new = names.get_name(hf.replace(".experts.0.", ".experts."), (".weight", ".bias"))
        if kind is None:
            writer.add_tensor(new, w if w.ndim < 2 else w.astype(np.float16))
            state[hf] = w if w.ndim < 2 else w.astype(np.float16).astype(np.float32)
            continue
        blocks = quantize(w, kind)
        writer.add_tensor(new, blocks, raw_dtype=kind)
        for e, values in enumerate(dequantize(blocks, kind)):
            state[hf.replace(".experts.0.", f".experts.{e}.")] = values
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(t)) for name, t in state.items()})
    ids = np.load(pathlib.Path(folder) / "input_ids.npy")
    with torch.no_grad():
        logits = model(torch.from_numpy(ids.reshape(1, -1).astype(np.int64))).logits[0].numpy()
    np.save(HERE / "input_ids.npy", ids.astype(np.int64))
    np.save(HERE / "logits.npy", logits)


if __name__ == "__main__":
    main(sys.argv[1])

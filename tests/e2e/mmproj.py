"""Makes tests/e2e/mmproj.tar.xz: tiny models of texts and pictures as GGUF files with mmproj files, as llama.cpp's converter writes
them, and transformers' numbers for the folders that they were made of.

    LLAMA_CPP=SOURCES python tests/e2e/mmproj.py [NAME...]      needs what eyes.py needs; neither the build nor make test needs it

NAME/ has model.gguf, mmproj-model.gguf, and answer2.txt, logits2.npy, tokens2 as in eyes.py. Weights have few values, so that they
pack well. With names the others of the archive stay.
"""
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

sys.path[:0] = [os.environ["LLAMA_CPP"], os.environ["LLAMA_CPP"] + "/gguf-py"]
import gguf                                                                                      # noqa: E402
from conversion import get_model_class                                                           # noqa: E402
from conversion.base import ModelBase                                                            # noqa: E402
import eyes                                                                                      # noqa: E402
from generate import scale_and_offset                                                            # noqa: E402
from uniform import uniform                                                                      # noqa: E402

HERE = pathlib.Path(__file__).parent
ARCHIVE = pathlib.Path(os.environ.get("ARCHIVE", HERE / "mmproj.tar.xz"))
TEXT_CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "mistral": "MistralForCausalLM", "lfm2": "Lfm2ForCausalLM",
                "gemma3_text": "Gemma3ForCausalLM"}
names_of = gguf.get_tensor_name_map
gguf.get_tensor_name_map = lambda architecture, layers: names_of(architecture, max(layers, 6))    # of tiny models, projectors' as well
logging.disable(logging.WARNING)


def few_values(folder):
    """Weights of 5 values."""
    tensors = {}
    with safe_open(folder / "model.safetensors", "pt") as saved:
        for name in sorted(saved.keys()):
            tensor = saved.get_tensor(name)
            scale, offset = scale_and_offset(tensor, name)
            values = offset + scale * np.round(2 * uniform(name, tensor.numel())) / 2
            tensors[name] = torch.from_numpy(values.astype(np.float16)).reshape(tensor.shape)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def published_name(kind, name):
    """As in folders that transformers 4 saved, which the converter reads."""
    if kind == "gemma3" and name.startswith("vision_tower.") and "vision_model" not in name:
        return name.replace("vision_tower.", "vision_tower.vision_model.")
    text = name.startswith(("language_model", "lm_head", "model."))
    return "model." + name if kind == "internvl" and not text else name


def publish(folder, to):
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text())
    with safe_open(folder / "model.safetensors", "pt") as saved:
        save_file({published_name(config["model_type"], n): saved.get_tensor(n) for n in saved.keys()}, to / "model.safetensors",
                  {"format": "pt"})
    if config["model_type"] == "gemma3":
        config["text_config"] |= {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 6}
        (to / "config.json").write_text(json.dumps(config))
    return config


def words_of(folder):
    """A method that writes the tokenizer of eyes.tokenizer_with."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    special = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    ids = tokenizer["model"]["vocab"] | special
    words = sorted(ids, key=ids.get)
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]

    def set_vocab(model):
        w = model.gguf_writer
        w.add_tokenizer_model("gpt2")
        w.add_tokenizer_pre("gpt-2")
        w.add_token_list(words)
        w.add_token_types([gguf.TokenType.CONTROL if word in special else gguf.TokenType.NORMAL for word in words])
        w.add_token_merges(merges)
        w.add_bos_token_id(ids["<s>"])
        w.add_eos_token_id(ids["</s>"])
        w.add_add_bos_token(False)
        if (folder / "chat_template.jinja").exists():
            w.add_chat_template((folder / "chat_template.jinja").read_text())
    return set_vocab


def convert(folder, out):
    published = folder.parent / "published"
    shutil.rmtree(published, ignore_errors=True)
    config = publish(folder, published)
    for sees in (False, True):
        name = config["architectures"][0]
        if sees and config["model_type"] == "internvl":
            name = "InternVisionModel"
        if not sees and config["model_type"] in ("internvl", "llava", "idefics3", "mistral3", "lfm2_vl"):
            name = TEXT_CLASSES[config["text_config"]["model_type"]]
        kind = get_model_class(name, mmproj=sees)
        if not sees:
            kind = type(kind.__name__, (kind,), {"set_vocab": words_of(folder), "model_arch": kind.model_arch})
        with torch.inference_mode():
            kind(published, gguf.LlamaFileType[os.environ.get("TYPE", "MOSTLY_F16")], out / ("mmproj-model.gguf" if sees else "model.gguf"), eager=True).write()


def write(name, root):
    out, folder = root / name, root / "folder"
    for old in (out, folder):
        shutil.rmtree(old, ignore_errors=True)
        old.mkdir()
    torch.manual_seed(7)
    make = eyes.FAMILIES[name]
    model, processor = make(window=112) if name == "qwen2_5-vl" else make()                        # the window of all mmproj files
    eyes.save_processor(processor, folder)
    model.half().save_pretrained(folder)
    few_values(folder)
    model = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    eyes.run_case(model, processor, out, 2, *eyes.CASES[1], root)
    convert(folder, out)
    if "qwen" in name or name == "gemma4":                 # their bounds of pixels are in no mmproj file
        shutil.copy(folder / "preprocessor_config.json", out)
    shutil.rmtree(folder)
    shutil.rmtree(root / "published")


NAMES = ["gemma3", "idefics3", "internvl", "qwen2_5-vl", "qwen3-vl", "pixtral", "gemma4"]


def main():
    names = sys.argv[1:] or NAMES
    eyes.TEXT.update(intermediate_size=32, num_hidden_layers=2)
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        if ARCHIVE.exists() and sys.argv[1:]:
            subprocess.run(["tar", "xJf", ARCHIVE, "-C", root], check=True)
        eyes.draw_pictures(root)
        for name in names:
            write(name, root)
        eyes.pack(ARCHIVE, root)


if __name__ == "__main__":
    main()

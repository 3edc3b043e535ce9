"""Makes tests/e2e/lora.tar.xz: a tiny model, adapters of PEFT of each kind, and what transformers computes with them.

    python tests/e2e/lora.py        needs torch, transformers and peft; neither the build nor make test does

BASE/ holds config.json, model.safetensors and input_ids.npy; CASE/ holds its adapters a0 ..., logits.npy, and `list`: what
--lora takes, CASE/a0 and its factor.
"""
import io
import pathlib
import shutil
import tarfile
import tempfile

import numpy as np
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, Qwen2Config

SMALL = dict(vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
             max_position_embeddings=32, bos_token_id=1, eos_token_id=2)
BASES = {"llama": LlamaConfig(**SMALL), "tied": LlamaConfig(**SMALL, tie_word_embeddings=True), "qwen2": Qwen2Config(**SMALL),
         "gpt2": GPT2Config(vocab_size=40, n_embd=16, n_layer=1, n_head=2, n_positions=32, bos_token_id=1, eos_token_id=2)}


def lora(*modules, **more):
    return LoraConfig(**(dict(r=3, lora_alpha=6, target_modules=list(modules)) | more))


CASES = {
    "plain": ("llama", [lora("q_proj", "down_proj")], [1]),
    "factor": ("llama", [lora("q_proj", "v_proj")], [0.5]),
    "rslora": ("llama", [lora("k_proj", "up_proj", use_rslora=True)], [1]),
    "dora": ("llama", [lora("q_proj", "o_proj", use_dora=True)], [1]),
    "several": ("llama", [lora("q_proj"), lora("q_proj", "up_proj", r=2, lora_alpha=3)], [1, 1]),
    "patterns": ("llama", [lora("q_proj", "v_proj", rank_pattern={"layers.1.self_attn.q_proj": 2}, alpha_pattern={"v_proj": 1})], [1]),
    "modules": ("llama", [lora("q_proj", modules_to_save=["lm_head", "embed_tokens"])], [1]),
    "words": ("llama", [lora("embed_tokens", "lm_head")], [1]),
    "tied-words": ("tied", [lora("embed_tokens", "q_proj")], [1]),
    "tied-head": ("tied", [lora("lm_head")], [1]),
    "biases": ("qwen2", [lora("q_proj", bias="lora_only")], [1]),
    "lora-bias": ("qwen2", [lora("q_proj", lora_bias=True)], [1]),
    "conv1d": ("gpt2", [lora("c_attn", "c_proj", fan_in_fan_out=True)], [1]),
    "conv1d-dora": ("gpt2", [lora("c_attn", "c_proj", fan_in_fan_out=True, use_dora=True)], [1]),
}


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def train(model):
    """Numbers that training could have led to: f16, so that they pack well."""
    with torch.no_grad():
        for name, w in model.named_parameters():
            size = 0.3 if "lora_" in name else 0.1 if w.requires_grad else 0
            w.copy_((w + size * torch.randn_like(w)).half().float())


def make(out, name, base, configs, factors):
    for i, config in enumerate(configs):
        adapted = get_peft_model(load(out / base), config)
        train(adapted)
        adapted.save_pretrained(out / name / f"a{i}")
        (out / name / f"a{i}" / "README.md").unlink(missing_ok=True)
    model = load(out / base)
    for i, factor in enumerate(factors):
        model = PeftModel.from_pretrained(model, out / name / f"a{i}").eval()
        for module in model.modules():
            if factor != 1 and hasattr(module, "set_scale"):
                module.set_scale("default", factor)
        model = model.merge_and_unload() if len(configs) > 1 else model
    with torch.no_grad():
        logits = model(input_ids=torch.from_numpy(np.load(out / base / "input_ids.npy").astype(np.int64))[None]).logits
    np.save(out / name / "logits.npy", logits[0].numpy())
    words = ",".join(f"{name}/a{i}" + (f"={factor}" if factor != 1 else "") for i, factor in enumerate(factors))
    (out / name / "list").write_text(f"{base} {words}\n")


def main():
    torch.manual_seed(5)
    transformers.logging.set_verbosity_error()
    out = pathlib.Path(tempfile.mkdtemp())
    for base, config in BASES.items():
        model = AutoModelForCausalLM.from_config(config).float()
        with torch.no_grad():
            for w in model.parameters():
                w.copy_((w * 8 if w.dim() > 1 else w).half().float())
        model.save_pretrained(out / base)
        np.save(out / base / "input_ids.npy", np.array([3, 17, 5, 22, 9, 30, 4, 11], np.int32))
    for name, case in CASES.items():
        make(out, name, *case)
    with tarfile.open(pathlib.Path(__file__).with_suffix(".tar.xz"), "w:xz") as tar:
        for path in sorted(p for p in out.rglob("*") if p.is_file()):
            entry = tarfile.TarInfo(str(path.relative_to(out)))
            data = path.read_bytes()
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    shutil.rmtree(out)


if __name__ == "__main__":
    main()

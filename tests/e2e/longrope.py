"""Makes tests/e2e/longrope/NAME.npy: transformers' logits of a text longer than the original context of LongRoPE.

    python tests/e2e/longrope.py        needs torch and transformers 4.57, and build/tools/family_weights
"""
import pathlib
import subprocess
import tempfile

import numpy as np
import torch
import transformers
from safetensors.torch import load_file

HERE = pathlib.Path(__file__).parent
TOKENS = {"phi3-longrope": 40, "phimoe-longrope": 40, "llama-longrope": 72}

for name, count in TOKENS.items():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([HERE / "../../build/tools/family_weights", HERE / "../families" / name, folder], check=True)
        config = transformers.AutoConfig.from_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
        model.load_state_dict(load_file(f"{folder}/model.safetensors"), strict=False)
        for module in model.modules():  # frequencies that from_pretrained computes
            if hasattr(module, "rope_init_fn"):
                module.to(torch.float32)
        ids = torch.tensor([[(7 * i + 3) % 96 for i in range(count)]])
        with torch.no_grad():
            logits = model(ids, use_cache=False).logits[0]
        np.save(HERE / f"longrope/{name}.npy", logits.numpy())
        print(name, logits.shape, logits.abs().max())

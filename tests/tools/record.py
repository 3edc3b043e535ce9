"""Records what every module of a transformers model gives, for `burin check MODEL --against OUT.npz`.

usage: record.py MODEL OUT.npz 1,2,3 [decoder's tokens]"""
import sys

import numpy
import torch
import transformers

path, out, *texts = sys.argv[1:]
config = transformers.AutoConfig.from_pretrained(path)
model = getattr(transformers, config.architectures[0]).from_pretrained(path, dtype=torch.float32).eval()
values = dict(zip(("input_ids", "decoder_input_ids"), (numpy.array([text.split(",")], dtype=numpy.int64) for text in texts)))


def record(name):
    def hook(module, args, result):
        again = sum(k == name or k.startswith(name + "#") for k in values)
        key = f"{name}#{again}" if again else name
        given = result if torch.is_tensor(result) else next((r for r in result if torch.is_tensor(r)), None)
        for suffix, value in ("", given), (".input", args[0] if args else None):
            if torch.is_tensor(value) and value.is_floating_point():
                values[key + suffix] = value.numpy()
    return hook


for name, module in model.named_modules():
    if name:
        module.register_forward_hook(record(name))
with torch.no_grad():
    result = model(**{name: torch.from_numpy(value) for name, value in values.items()}, return_dict=True)
values |= {name: value.numpy() for name, value in result.items() if torch.is_tensor(value)}
numpy.savez(out, **values)

"""Text parts of models of images and texts, for newest.py: folders whose text model is tiny and has values, and whose other parts
are left out, as burin leaves them out.

The model is built on the meta device, where images' part costs nothing; its text model and its head are built again with values.
"""
import json
import shutil

import torch
import transformers
from safetensors import safe_open

SECTION = ("text_config", "llm_config", "language_config")


def section_of(config):
    """The name of the text model's object in config.json, and its class."""
    text = config.get_text_config()
    for name in SECTION:
        if getattr(config, name, None) is text:
            return name, type(text)
    return None, type(text)


def text_module(model, text):
    """The name of the text model: the first module with embeddings whose configuration is this."""
    for name, module in model.named_modules():
        if name and getattr(module, "config", None) is text and hasattr(module, "embed_tokens"):
            return name
    raise ValueError("no part has the text's configuration")


def build(cls, config, fill):
    """The model with values in its text part alone."""
    config._attn_implementation = "eager"
    for part in [config, *(getattr(config, n) for n in getattr(config, "sub_configs", {}) if getattr(config, n, None) is not None)]:
        part._attn_implementation = "eager"
        part._experts_implementation = "eager"
    try:
        with torch.device("meta"):
            model = cls(config).eval()
    except RuntimeError:                            # some compute numbers while they are built
        model = cls(config).eval()
    text = config.get_text_config()
    name = text_module(model, text)
    torch.manual_seed(0)
    parent, _, last = name.rpartition(".")
    real = type(model.get_submodule(name))(text).float().eval()
    setattr(model.get_submodule(parent) if parent else model, last, real)
    head = model.get_output_embeddings()
    if head is not None:
        if getattr(config, "tie_word_embeddings", getattr(text, "tie_word_embeddings", False)):
            head.weight = real.embed_tokens.weight
        else:
            head.to_empty(device="cpu").float()
    fill(model)
    return model


def values_of(model):
    """The text's tensors, and the smallest of the other parts, which shows that there are some."""
    values = {n: t for n, t in model.state_dict().items() if t.device.type != "meta"}
    others = [(t.numel(), n) for n, t in model.named_parameters() if t.device.type == "meta" and t.dim() == 1]
    if others:
        n, name = min(others)
        values[name] = torch.zeros(n)
    return values


def logits_of(model, exact):
    exact(model)
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.tensor([[(5 + 37 * i + 11 * i * i) % (vocabulary - 4) + 4 for i in range(24)]])
    with torch.no_grad():
        return {"input_ids": ids}, model(input_ids=ids, use_cache=False)


def write(folder, cls, config, fill, exact):
    model = build(cls, config, fill)
    result = logits_of(model, exact)
    model.save_pretrained(folder, state_dict=values_of(model))
    return result


def configuration(cls, name, parameters, around):
    """The class's default with this text model, and other fields around it."""
    return cls.config_class(**{name: parameters}, **around)


def reread(folder, cls, original, fill, exact):
    """Result of a changed config.json with the tensors of another folder; None where they do not fit it."""
    config = cls.config_class.from_pretrained(folder)
    model = build(cls, config, fill)
    shutil.copy(folder / "config.json", folder / "kept.json")
    model.save_pretrained(folder, state_dict=values_of(model))
    shutil.move(folder / "kept.json", folder / "config.json")
    with safe_open(folder / "model.safetensors", "np") as x, safe_open(original / "model.safetensors", "np") as y:
        shapes = [{k: f.get_slice(k).get_shape() for k in f.keys()} for f in (x, y)]
    return logits_of(model, exact) if shapes[0] == shapes[1] else None


def edits_of(text, section, edits):
    """Changes of the text model's object, and of tie_word_embeddings outside it."""
    for change, edited in edits(text[section]):
        yield change, dict(text, **{section: json.loads(edited)})
    if "tie_word_embeddings" in text:
        yield "outer-tie-absent", {k: v for k, v in text.items() if k != "tie_word_embeddings"}

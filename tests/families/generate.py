"""Makes tests/families/NAME: tiny models of many architectures, with what transformers computes from them.

    python tests/families/generate.py [NAME...]        needs torch and transformers 4.57, or 5.24 for what it has not; neither the build nor make test needs it

Each folder gets config.json as transformers saves it, `tensors`, inputs and expected outputs as .npy. Weights are not stored: a
line of `tensors` says NAME SCALE OFFSET DIMENSIONS..., and element i of the tensor is OFFSET + SCALE * u(NAME, i) rounded to f16,
with u from -1 to 1 as in uniform.py; build/tools/family_weights makes model.safetensors of it. Arithmetic is f32. Rotary
frequencies are those that from_pretrained computes: f32, whatever the checkpoint's type.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import save_file

from models import MODELS
from uniform import uniform

HERE = pathlib.Path(__file__).parent
NEWER = int(transformers.__version__.split(".")[0]) >= 5
VOCABULARY, TOKENS = 96, 12
BUFFERS = ("slope_rate", "query_decay", "key_decay", "diagonal_decay")     # MiniMax saves what follows from its sizes


def scale_and_offset(tensor, name):
    """Matrices keep the size of what they multiply; norms stay around where they start, biases around 0. Small variances of batch norms
    let a picture through many layers."""
    if name.endswith("running_var"):
        return 0.15, 0.4
    if tensor.numel() == 1 and bool(tensor.isinf()):      # bounds
        return 0.25, float(tensor.sign())
    if tensor.dim() >= 2:
        fan_in = tensor.shape[-1] if "experts" in name else tensor[0].numel()
        embedding = any(word in name for word in ("embed", "wte", "wpe", "shared"))
        return (0.7 if embedding else round(1.6 / fan_in**0.5, 4)), 0.0
    return 0.25, float(tensor.flatten()[0]) if tensor.numel() and bool((tensor == tensor.flatten()[0]).all()) else 0.0


def fill(model, folder, prefix=""):
    """Gives every saved tensor its values; returns the lines of `tensors`, whose names are without the prefix."""
    state, lines, filled = model.state_dict(keep_vars=True), [], set()
    with safe_open(folder / "model.safetensors", "np") as saved:
        names = sorted(saved.keys())
    for name in names:
        name = name.replace("model.language_model", "model")      # which a part of a larger model is called
        tensor = state[name].data
        if not tensor.is_floating_point() or name.endswith(BUFFERS):        # an index that follows from the sizes
            continue
        scale, offset = scale_and_offset(tensor, name)
        values = offset + scale * uniform(name.removeprefix(prefix), tensor.numel())
        values = values.astype(np.float32).astype(np.float16).astype(np.float32)
        tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
        filled.add(tensor.data_ptr())
        lines.append(f"{name.removeprefix(prefix)} {scale:g} {offset:g} {' '.join(map(str, tensor.shape))}".rstrip() + "\n")
    for name, parameter in model.named_parameters():
        assert parameter.data_ptr() in filled or not parameter.requires_grad, f"{name} is not saved"
    for module in model.modules():
        if type(module).__name__ == "XIELUActivation":
            module.to(torch.bfloat16)             # as from_pretrained leaves it
        if type(module).__name__ == "Qwen3NextGatedDeltaNet":
            module.chunk_gated_delta_rule = module.recurrent_gated_delta_rule      # row by row, which rounds less than by chunks
    return lines


def fill_file(folder, prefix=""):
    """The same in the file that transformers 5 saves, where experts, for example, are called otherwise than in the model."""
    lines, tensors = [], {}
    with safe_open(folder / "model.safetensors", "pt") as saved:
        for name in sorted(saved.keys()):
            tensor = saved.get_tensor(name)
            if not tensor.is_floating_point():        # how many batches a norm has seen
                tensors[name] = tensor
                continue
            scale, offset = scale_and_offset(tensor, name)
            bare = name.removeprefix(prefix)
            values = (offset + scale * uniform(bare, tensor.numel())).astype(np.float32).astype(np.float16)
            tensors[name] = torch.from_numpy(values).reshape(tensor.shape)
            lines.append(f"{bare} {scale:g} {offset:g} {' '.join(map(str, tensor.shape))}".rstrip() + "\n")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return lines


def some_tokens(count, vocabulary, first=5):
    return torch.tensor([[(first + 37 * i + i * i * 11) % (vocabulary - 4) + 4 for i in range(count)]])


def inputs_of(kind, config):
    vocabulary = getattr(config, "vocab_size", VOCABULARY)
    if kind == "towers":
        return inputs_of("encoder", config.text_config) | inputs_of("image", config.vision_config)
    if kind == "image":
        config = getattr(config, "vision_config", getattr(config, "backbone_config", None) or config)
        size, channels = config.image_size, config.num_channels
        high, wide = (size, size) if isinstance(size, int) else size
        return {"pixel_values": torch.from_numpy(uniform("pixels", channels * high * wide).astype(np.float32)).reshape(
            1, channels, high, wide)}
    if kind == "sound":
        bands = getattr(getattr(config, "encoder_config", config), "num_mel_bins", None)
        frames = getattr(config, "max_length", 61) if bands else 1500
        values = torch.from_numpy(uniform("samples", frames * (bands or 1)).astype(np.float32)).reshape(1, frames, bands or 1)
        return {"input_features" if hasattr(config, "encoder_config") else "input_values": values if bands else values[..., 0]}
    if kind == "read":
        return inputs_of("image", config.encoder) | {"decoder_input_ids": some_tokens(9, config.decoder.vocab_size, first=3)}
    inputs = {"input_ids": some_tokens(TOKENS, vocabulary)}
    if kind == "pair":
        inputs["decoder_input_ids"] = some_tokens(9, vocabulary, first=3)
    if kind == "task" and config.is_encoder_decoder:      # whose heads look at the last token that ends a text
        inputs["input_ids"][0, [4, -2]] = config.eos_token_id
    return inputs


OUTPUTS = {"decoder": ["logits"], "encoder": ["last_hidden_state", "pooler_output"],
           "task": ["logits", "start_logits", "end_logits"],
           "towers": ["logits_per_image", "text_embeds", "image_embeds"],
           "image": ["last_hidden_state", "pooler_output", "logits", "cls_logits", "distillation_logits", "pred_boxes", "predicted_depth"],
           "sound": ["last_hidden_state", "logits"],
           "read": ["encoder_last_hidden_state", "logits"],
           "pair": ["encoder_last_hidden_state", "last_hidden_state", "logits"]}


def save_arrays(folder, kind, inputs, outputs):
    for name, value in inputs.items():
        value = value[0].numpy()
        np.save(folder / f"{name}.npy", value.astype(np.int32) if value.dtype == np.int64 else value)
    for name in OUTPUTS[kind]:
        value = getattr(outputs, name, None)
        if value is not None:
            np.save(folder / f"{name}.npy", np.ascontiguousarray(value[0].detach().numpy().astype(np.float32)))


def generate(name, kind, class_name, parameters):
    torch.manual_seed(0)
    cls = getattr(transformers, class_name)
    config = cls.config_class(**parameters)
    # SDPA leaves out the cap of scores; Falcon's eager attention adds ALiBi twice.
    config._attn_implementation = "sdpa" if class_name == "FalconForCausalLM" else "eager"
    if not NEWER:
        cls._init_weights = lambda *_: None       # fails for norms without biases
    model = cls(config).eval()
    out = HERE / name
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model.half().save_pretrained(folder)
        config = type(config).from_pretrained(folder, attn_implementation=config._attn_implementation)
        if NEWER:
            lines = fill_file(folder)
            model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager").eval()
        else:
            model = cls(config).float().eval()    # new: a model that was made f16 has lost bits of its rotary frequencies
            lines = fill(model, folder)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        shutil.copy(folder / "config.json", out / "config.json")
    (out / "tensors").write_text("".join(lines))
    inputs = inputs_of(kind, model.config)
    with torch.no_grad():
        outputs = model(**inputs)
    save_arrays(out, kind, inputs, outputs)


def main(names):
    for name in names or MODELS:
        try:
            generate(name, *MODELS[name])
            print(f"{name}: {', '.join(p.stem for p in sorted((HERE / name).glob('*.npy')))}")
        except Exception as error:                # the others are still worth making
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr); import traceback; traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1:])

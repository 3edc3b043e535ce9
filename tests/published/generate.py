"""What transformers computes with config.json of models that people use, with the fields as published and the sizes small.

    python tests/published/generate.py [NAME...]        needs torch and transformers 5.24, or 4.57

Neither the build nor make test needs it. Where the two versions differ, burin follows 5.

Put tests/published/NAME/config.json there; this adds the other files of a folder of ../families (generate.py there). A model that
burin does not compute is called refused-NAME, and published.sh says with which message."""
import json
import pathlib
import sys
import tempfile

import torch
import transformers

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "families"))
from generate import NEWER, OUTPUTS, fill, fill_file, inputs_of, save_arrays, some_tokens, uniform  # noqa: E402

# Checkpoints of the base model alone, whose tensors have no prefix.
BARE = {"gpt2-bare": "transformer.", "all-mpnet-base-v2": "mpnet."}
OUTPUTS["any"] = sorted({name for names in OUTPUTS.values() for name in names})


def class_of(fields):
    names = fields.get("architectures")
    return getattr(transformers, names[0].replace("MPTFor", "MptFor")) if names else transformers.AutoModel


def inputs(model):
    config = model.config
    if config.model_type == "whisper":
        features = uniform("features", config.num_mel_bins * 2 * config.max_source_positions)
        return {"input_features": torch.from_numpy(features).float().reshape(1, config.num_mel_bins, -1),
                "decoder_input_ids": some_tokens(9, config.vocab_size, first=3)}
    if config.model_type == "clip":
        return inputs_of("towers", config)
    if "pixel_values" == model.main_input_name:
        return inputs_of("image", config)
    return inputs_of("pair" if config.is_encoder_decoder else "encoder", config)


def config_of(cls, folder):
    config = (transformers.AutoConfig if cls is transformers.AutoModel else cls.config_class).from_pretrained(folder)
    config._attn_implementation = "sdpa" if config.model_type == "falcon" else "eager"
    return config


def make(cls, config):
    return cls.from_config(config) if cls is transformers.AutoModel else cls(config)


def filled_model(cls, out, prefix):
    """The model of out/config.json with its weights, and the lines of `tensors`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        make(cls, config_of(cls, out)).half().save_pretrained(folder)
        config = config_of(cls, out)
        if NEWER:
            lines = fill_file(folder, prefix)
            model = cls.from_pretrained(folder, config=config, dtype=torch.float32, experts_implementation="eager",
                                        attn_implementation=config._attn_implementation)
        else:
            model = make(cls, config).float()
            lines = fill(model, folder, prefix)
    return model.eval(), lines


def generate(name):
    torch.manual_seed(0)
    out = HERE / name
    cls = class_of(json.loads((out / "config.json").read_text()))
    if not NEWER:
        transformers.PreTrainedModel._init_weights = lambda *_: None
    if name.startswith("refused-"):
        (out / "tensors").write_text("x 1 0 1\n")
        return
    model, lines = filled_model(cls, out, BARE.get(name, ""))
    (out / "tensors").write_text("".join(lines))
    given = inputs(model)
    with torch.no_grad():
        outputs = model(**given)
    save_arrays(out, "any", given, outputs)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/config.json")):
        try:
            generate(name)
        except Exception as error:                # the others are still worth making
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)

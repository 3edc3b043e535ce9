"""Converts model folders to GGUF files with llama.cpp's own converter, without their tokenizers: what slow-convert.sh compares.

    LLAMA_CPP=SOURCES python tests/families/convert_gguf.py OUT FOLDER...      OUT/NAME/model.gguf; needs torch, transformers

A line `NAME: why not` says which folders the converter does not take.
"""
import logging
import os
import pathlib
import sys

sys.path[:0] = [os.environ["LLAMA_CPP"], os.environ["LLAMA_CPP"] + "/gguf-py"]
import torch                                                                                     # noqa: E402
import gguf                                                                                      # noqa: E402
from conversion import get_model_class                                                           # noqa: E402
from conversion.base import ModelBase, ModelType, get_model_architecture                         # noqa: E402

torch.set_num_threads(1)
logging.disable(logging.WARNING)


def without_words(model):
    """Their number alone, which some converters state themselves."""
    writer = model.gguf_writer
    state, key = writer.add_vocab_size, f"{writer.arch}.vocab_size"
    writer.add_vocab_size = lambda n: None if any(key in part for part in writer.kv_data) else state(n)
    writer.add_tokenizer_model("none")
    if model.hparams.get("vocab_size"):
        writer.add_vocab_size(model.hparams["vocab_size"])


def convert(folder, out):
    options = ModelBase.load_hparams(folder, False)
    architecture = get_model_architecture(options, ModelType.TEXT)
    kind = get_model_class(architecture, mmproj=False)
    plain = type(kind.__name__, (kind,), {"set_vocab": without_words, "model_arch": kind.model_arch})
    plain(folder, gguf.LlamaFileType.ALL_F32, out / "model.gguf", eager=True).write()


for folder in map(pathlib.Path, sys.argv[2:]):
    out = pathlib.Path(sys.argv[1]) / folder.name
    out.mkdir(parents=True, exist_ok=True)
    try:
        with torch.inference_mode():
            convert(folder, out)
    except (Exception, SystemExit) as why:                                                       # whatever a converter says
        print(f"{folder.name}: {type(why).__name__} {why}".split("\n")[0], flush=True)
        (out / "model.gguf").unlink(missing_ok=True)

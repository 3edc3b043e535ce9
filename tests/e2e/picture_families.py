"""Writes picture_families.txt: what transformers 5.24 makes of one picture, for tiny models of tests/families.

    python tests/e2e/picture_families.py FOLDER > tests/e2e/picture_families.txt

FOLDER has the models as build/tools/family_weights makes them. A line: FAMILY|CHANGES OF config.json|SETTINGS OF THE PROCESSOR|RESULT.
The picture is that of picture_families.sh. Values null in the changes remove a field.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import torch
import transformers
from PIL import Image

CASES = [
    ("resnet-classes", {"image_size": None}, "ConvNextImageProcessor", dict(size={"shortest_edge": 40}, resample=3)),
    ("convnextv2-classes", {}, "ConvNextImageProcessor", dict(size={"shortest_edge": 32}, crop_pct=0.75, resample=2)),
    ("mobilenet-v1-classes", {}, "MobileNetV1ImageProcessor", dict(size={"shortest_edge": 40}, crop_size={"height": 33, "width": 33})),
    ("mobilenet-v2-classes", {}, "MobileNetV2ImageProcessor", dict(size={"shortest_edge": 40}, crop_size={"height": 33, "width": 33})),
    ("efficientnet-classes", {}, "EfficientNetImageProcessor", dict(
        size={"height": 33, "width": 33}, resample=0, image_mean=[0.485, 0.456, 0.406], image_std=[0.478, 0.473, 0.474])),
    ("segformer-pixels", {}, "SegformerImageProcessor", dict(size={"height": 64, "width": 96})),
    ("dpt-depth", {}, "DPTImageProcessor", dict(size={"height": 32, "width": 32})),
    ("trocr-reader", {"decoder_start_token_id": 2}, "ViTImageProcessor", dict(size={"height": 16, "width": 16})),
    ("donut", {"decoder_start_token_id": 9}, "DonutImageProcessor", dict(size={"height": 24, "width": 12}, do_align_long_axis=True)),
    ("donut", {"decoder_start_token_id": 7}, "DonutImageProcessor", dict(size=[12, 24], do_resize=False, resample=3)),
    ("depth-anything-metric", {}, "DPTImageProcessor", dict(size={"height": 42, "width": 42}, ensure_multiple_of=14, resample=2)),
]


def picture():
    y, x = np.mgrid[0:45, 0:60]
    return Image.fromarray(np.stack([(x * 4 + y) % 256, y * 4 % 256, x * y // 7 % 256], -1).astype(np.uint8))


def labels(outputs, config):
    scores = outputs.logits[0].softmax(-1)
    order = scores.argsort(descending=True)
    return " ".join(f"{config['id2label'][str(int(i))]} {float(scores[i]):.6f}" for i in order)


def parts(processor, outputs, config):
    """The part of the pixels that each label has."""
    found = processor.post_process_semantic_segmentation(outputs, [picture().size[::-1]])[0].flatten()
    count = torch.bincount(found, minlength=3).double() / len(found)
    return " ".join(f"{config['id2label'][str(int(i))]} {float(count[i]):.6f}" for i in count.argsort(descending=True, stable=True) if count[i])


def depths(processor, outputs):
    depth = processor.post_process_depth_estimation(outputs, [picture().size[::-1]])[0]["predicted_depth"]
    return f"{float(depth.min()):.6f} {float(depth.max()):.6f}"


def read(model, inputs, config):
    """Eight tokens, and the first logits."""
    start = config["decoder_start_token_id"]
    ids = model.generate(**inputs, max_new_tokens=8, do_sample=False, num_beams=1, decoder_start_token_id=start, eos_token_id=-1, forced_eos_token_id=None)
    logits = model(**inputs, decoder_input_ids=torch.tensor([[start]])).logits[0, 0, :3]
    return ",".join(str(int(i)) for i in ids[0][1:]) + " " + " ".join(f"{float(x):.6f}" for x in logits)


def main(folder):
    for name, changes, processor, settings in CASES:
        with tempfile.TemporaryDirectory() as temporary:
            copy = pathlib.Path(temporary, name)
            shutil.copytree(pathlib.Path(folder, name), copy)
            config = json.loads((copy / "config.json").read_text()) | changes
            config = {k: v for k, v in config.items() if v is not None}
            (copy / "config.json").write_text(json.dumps(config))
            cls = getattr(transformers, config["architectures"][0])
            model = cls.from_pretrained(copy, dtype=torch.float32, attn_implementation="eager").eval()
            pil = getattr(transformers, processor.replace("ImageProcessor", "ImageProcessorPil"))(**settings)
            with torch.no_grad():
                inputs = pil(picture(), return_tensors="pt")
                outputs = None if name in ("trocr-reader", "donut") else model(**inputs)
                if outputs is None:
                    result = read(model, inputs, config)
                elif "predicted_depth" in outputs:
                    result = depths(pil, outputs)
                else:
                    result = parts(pil, outputs, config) if outputs.logits.dim() == 4 else labels(outputs, config)
        print(name, json.dumps(changes), json.dumps({"image_processor_type": processor} | settings), result, sep="|")


if __name__ == "__main__":
    main(sys.argv[1])

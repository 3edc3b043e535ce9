"""Makes tests/e2e/looks.tar.xz: tiny models of pictures, and of pictures and texts, with transformers' results in expected.txt.

    python tests/e2e/looks.py      needs what eyes.py needs

NAME/ has config.json, the processor, the tokenizer, and `tensors` (weights are a formula: tests/families). A line of expected.txt is
a model and the fields that its program prints.
"""
import pathlib
import subprocess
import tempfile

import torch
import transformers
from PIL import Image
from tokenizers import processors

from eyes import VISION, draw, fill_file, pil, tokenizer_with

ARCHIVE = pathlib.Path(__file__).parent / "looks.tar.xz"
TEXT = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, bos_token_id=1, eos_token_id=2, pad_token_id=0)
TEXTS = ["a cat", "the red thing", "in an"]
LABELS = {0: "cat", 1: "red car", 2: "dog"}


def tokenizer(form, **more):
    t = tokenizer_with([], "")._tokenizer
    t.post_processor = processors.TemplateProcessing(single=form, special_tokens=[("<s>", 1), ("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=t, eos_token="</s>", unk_token="<unk>", **more)


def save(root, name, model, *parts):
    """Saves the model with the formula's weights; returns it as it is read again, in f32."""
    folder = root / name
    model.half().save_pretrained(folder)
    (folder / "tensors").write_text("".join(fill_file(folder)))
    for part in parts:
        part.save_pretrained(folder)
    model = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    (folder / "model.safetensors").unlink()
    return model


def line(name, values):
    return "\t".join([name] + [v if isinstance(v, str) else "%.6f" % v for v in values]) + "\n"


def best(name, texts, scores):
    order = sorted(range(len(texts)), key=lambda i: -scores[i])
    return line(name, [f for i in order for f in (texts[i], float(scores[i]))])


def clip(root, images):
    t = tokenizer("<s> $A </s>", bos_token="<s>", pad_token="<pad>")
    p = pil("clip", "CLIP", size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    config = transformers.CLIPConfig(text_config=dict(TEXT, vocab_size=len(t), max_position_embeddings=24), vision_config=VISION, projection_dim=16)
    model = save(root, "clip", transformers.CLIPModel(config), t, p)
    pixels = p(images, return_tensors="pt")["pixel_values"]
    logits = torch.stack([model(input_ids=t([x], return_tensors="pt")["input_ids"], pixel_values=pixels).logits_per_image[:, 0] for x in TEXTS])
    return "".join(best("clip", TEXTS, s) for s in logits.T.softmax(-1))


def siglip(root, images):
    t = tokenizer("$A </s>", pad_token="</s>", model_max_length=12)
    p = pil("siglip", "Siglip", size={"height": 16, "width": 16})
    text = dict(TEXT, vocab_size=len(t), max_position_embeddings=12, projection_size=32)
    model = save(root, "siglip", transformers.SiglipModel(transformers.SiglipConfig(text_config=text, vision_config=VISION)), t, p)
    ids = t(TEXTS, padding="max_length", max_length=12, return_tensors="pt")["input_ids"]
    scores = model(input_ids=ids, pixel_values=p(images, return_tensors="pt")["pixel_values"]).logits_per_image.sigmoid()
    return "".join(best("siglip", TEXTS, s) for s in scores)


def vit(root, images):
    p = pil("vit", "ViT", size={"height": 16, "width": 16})
    model = save(root, "vit", transformers.ViTModel(transformers.ViTConfig(**VISION)), p)
    return "".join(line("vit", r.tolist()) for r in model(p(images, return_tensors="pt")["pixel_values"]).pooler_output)


def clip_vision(root, images):
    p = pil("clip", "CLIP", size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    model = save(root, "clip-vision", transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(**VISION, projection_dim=8)), p)
    return "".join(line("clip-vision", r.tolist()) for r in model(p(images, return_tensors="pt")["pixel_values"]).image_embeds)


def yolos(root, images):
    p = pil("yolos", "Yolos", size={"height": 16, "width": 24}, do_pad=False)
    config = transformers.YolosConfig(**dict(VISION, image_size=[16, 24]), num_detection_tokens=5, id2label=LABELS)
    model = save(root, "yolos", transformers.YolosForObjectDetection(config), p)
    text = ""
    for image in images:
        out = model(p([image], return_tensors="pt")["pixel_values"])
        o = p.post_process_object_detection(out, threshold=0.2, target_sizes=torch.tensor([image.size[::-1]]))[0]
        order = sorted(range(len(o["scores"])), key=lambda i: -o["scores"][i])
        text += "".join(line("yolos", [LABELS[int(o["labels"][i])], float(o["scores"][i])] + o["boxes"][i].tolist()) for i in order)
    return text


def main():
    with tempfile.TemporaryDirectory() as temporary, torch.no_grad():
        root = pathlib.Path(temporary)
        torch.manual_seed(3)
        draw(root / "wide.png", 60, 40, 1)
        draw(root / "small.png", 14, 15, 2)
        images = [Image.open(root / n).convert("RGB") for n in ("wide.png", "small.png")]
        (root / "expected.txt").write_text("".join(make(root, images) for make in (clip, siglip, vit, clip_vision, yolos)))
        subprocess.run(["tar", "cJf", ARCHIVE, "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-C", root]
                       + sorted(p.name for p in root.iterdir()), check=True)


if __name__ == "__main__":
    main()

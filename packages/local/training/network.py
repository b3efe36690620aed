"""Defines the network that finds the parts of a page: heat of their middles, their edges, and three masks.

It sees RGB from 0 to 255 and answers at a quarter of the size: `len(PARTS)` channels of heat, four distances in pixels
(left, top, right, bottom) for small parts and four for large ones, and `len(MASKS)` channels of masks.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

SMALL = ("icon", "checkbox", "checkbox_on", "radio", "radio_on", "switch", "switch_on", "thumb")
LARGE = ("button", "field", "textarea", "select", "slider", "photo")
PARTS = SMALL + LARGE
MASKS = ("photo", "text", "over")
STRIDE = 4
FAR = 6.5  # the logarithm of the longest distance to an edge


class Step(nn.Module):
    """A convolution, a batch norm and a ReLU."""

    def __init__(self, into: int, out: int, stride: int = 1, size: int = 3) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(into, out, size, stride, size // 2, bias=False)
        self.norm = nn.BatchNorm2d(out)

    def forward(self, seen: Tensor) -> Tensor:
        return functional.relu(self.norm(self.convolve(seen)))


class Block(nn.Module):
    """Two steps and a way around them."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.first = Step(wide, wide)
        self.second = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(wide)

    def forward(self, seen: Tensor) -> Tensor:
        return functional.relu(seen + self.norm(self.second(self.first(seen))))


def _stage(into: int, out: int, blocks: int) -> nn.Sequential:
    return nn.Sequential(Step(into, out, 2), *(Block(out) for _ in range(blocks)))


class PartNetwork(nn.Module):
    """A small residual network with a path back up to a quarter of the size."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(Step(3, 16, 2), Step(16, 32, 2), Block(32))
        self.eighth = _stage(32, 48, 3)
        self.sixteenth = _stage(48, 96, 3)
        self.half_again = _stage(96, 128, 3)
        self.widest = Step(128 * 3, 96, 1, 1)
        self.up_sixteenth, self.join_sixteenth = nn.Conv2d(96, 96, 1), Step(96, 64)
        self.up_eighth, self.join_eighth = nn.Conv2d(48, 64, 1), Step(64, 48)
        self.up_quarter, self.join_quarter = nn.Conv2d(32, 48, 1), Step(48, 48)
        self.heat_step, self.edge_step = Step(48, 40), Step(48, 32)
        self.heat = nn.Conv2d(40, len(PARTS) + len(MASKS), 1)
        self.edges = nn.Conv2d(32, 8, 1)
        nn.init.constant_(self.heat.bias, -4.0)  # pyright: ignore[reportArgumentType]
        nn.init.constant_(self.edges.bias, 2.5)  # pyright: ignore[reportArgumentType]

    def raw(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return heat and masks before the logistic function, and the logarithms of distances."""
        quarter = self.stem((seen - 127.5) / 64)
        eighth = self.eighth(quarter)
        sixteenth = self.sixteenth(eighth)
        last = self.half_again(sixteenth)
        near = functional.max_pool2d(last, 5, 1, 2)
        far = functional.max_pool2d(functional.max_pool2d(near, 5, 1, 2), 5, 1, 2)
        up = self.widest(torch.cat((last, near, far), 1))
        up = self.join_sixteenth(_double(up) + self.up_sixteenth(sixteenth))
        up = self.join_eighth(_double(up) + self.up_eighth(eighth))
        up = self.join_quarter(_double(up) + self.up_quarter(quarter))
        return self.heat(self.heat_step(up)), self.edges(self.edge_step(up)).clamp(-2, FAR)

    def forward(self, seen: Tensor) -> Tensor:
        heat, edges = self.raw(seen)
        shown = heat.sigmoid()
        return torch.cat((shown[:, : len(PARTS)], edges.exp(), shown[:, len(PARTS) :]), 1)


def _double(seen: Tensor) -> Tensor:
    return functional.interpolate(seen, scale_factor=2.0, mode="nearest")

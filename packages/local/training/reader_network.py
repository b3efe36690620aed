"""Defines the network that reads lines of text: convolutions alone, so that a line may have any length.

It sees one channel of 48 rows, 0 for paper and 1 for ink, and answers for every four columns with the chance of each
class of `reader_letters.LETTERS`.
"""

from network import Block
from reader_letters import LETTERS
from torch import Tensor, nn
from torch.nn import functional

STRIDE = 4
WIDE = 192
AROUND = 15  # steps that one mixing layer sees


class Step(nn.Module):
    """A convolution, a batch norm and a ReLU."""

    def __init__(self, into: int, out: int, stride: tuple[int, int] = (1, 1), size: tuple[int, int] = (3, 3)) -> None:
        super().__init__()
        around = (0 if size[0] == 1 or stride[0] > 2 else size[0] // 2, size[1] // 2)
        self.convolve = nn.Conv2d(into, out, size, stride, around, bias=False)
        self.norm = nn.BatchNorm2d(out)

    def forward(self, seen: Tensor) -> Tensor:
        return functional.relu(self.norm(self.convolve(seen)))


class Mixing(nn.Module):
    """Mixes each place of a line with those around it, then its channels."""

    def __init__(self) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(WIDE, WIDE, (1, AROUND), padding=(0, AROUND // 2), groups=WIDE, bias=False)
        self.norm = nn.BatchNorm2d(WIDE)
        self.widen, self.narrow = nn.Conv2d(WIDE, 3 * WIDE, 1), nn.Conv2d(3 * WIDE, WIDE, 1)
        nn.init.zeros_(self.narrow.weight)

    def forward(self, seen: Tensor) -> Tensor:
        return seen + self.narrow(functional.relu(self.widen(self.norm(self.convolve(seen)))))


class ReaderNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            Step(1, 32, (2, 2)), Step(32, 32), Step(32, 64, (2, 2)), Block(64), Step(64, 128, (2, 1)), Block(128),
            Step(128, WIDE, (2, 1)), Block(WIDE), Step(WIDE, WIDE, (3, 1), (3, 3)), *(Mixing() for _ in range(4)),
        )  # fmt: skip
        self.head = nn.Conv2d(WIDE, len(LETTERS), 1)

    def raw(self, seen: Tensor) -> Tensor:
        """Return the answer before the softmax: lines x places x classes."""
        return self.head(self.body(seen)).squeeze(2).transpose(1, 2)

    def forward(self, seen: Tensor) -> Tensor:
        return self.raw(seen).softmax(2)

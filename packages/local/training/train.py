"""Trains the network on the pages of `make_pages.py`, and measures it on those that it has not seen.

    python train.py DATA OUT [--minutes 7] [--batch 64] [--steps 0]

Everything happens on the device: pages lie there as bytes, crops and targets are made there. OUT gets `parts.pt` (the
averaged weights) and `figures.json`.
"""

import argparse
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import MASKS, PARTS, SMALL, STRIDE, PartNetwork
from PIL import Image
from torch import Tensor
from torch.nn import functional

CROP = 512
MOST = 140  # parts on one crop
MOST_TEXT = 200
SEED = 20


class Pages:
    """Pages on the device, padded to one size, with their truth."""

    def __init__(self, folder: Path, names: list[str], truth: dict[str, Any], device: torch.device) -> None:
        with ThreadPoolExecutor(16) as pool:
            opened = list(pool.map(lambda name: np.asarray(Image.open(folder / f"{name}.webp").convert("RGB")), names))
        high, wide = max(each.shape[0] for each in opened), max(each.shape[1] for each in opened)
        high, wide = max(high, CROP), max(wide, CROP)
        self.pixels = torch.zeros(len(names), high, wide, 3, dtype=torch.uint8, device=device)
        for number, each in enumerate(opened):
            self.pixels[number, : each.shape[0], : each.shape[1]] = torch.from_numpy(each.copy()).to(device)
        self.sizes = torch.tensor([each.shape[:2] for each in opened], dtype=torch.float32, device=device)
        shown = [each.shape[0] for each in opened]
        parts = [
            [[PARTS.index(kind), *box] for kind, *box in truth[name]["parts"] if box[3] <= high]
            for name, high in zip(names, shown, strict=True)
        ]
        texts = [
            [[kind, *box] for kind, key in enumerate(("text", "over")) for box in truth[name][key] if box[3] <= high]
            + [[2, *box] for kind, *box in truth[name]["parts"] if kind == "photo"]
            for name, high in zip(names, shown, strict=True)
        ]
        self.parts, self.texts = _padded(parts, device), _padded(texts, device)
        pairs = [(number, part) for number, page in enumerate(parts) for part in page]
        pairs.sort(key=lambda pair: pair[1][0])
        middles = [(number, (box[1] + box[3]) / 2, (box[2] + box[4]) / 2) for number, box in pairs]
        self.middles = torch.tensor(middles, device=device)  # page, x, y of each part, by class
        numbers = [sum(part[0] == kind for _, part in pairs) for kind in range(len(PARTS))]
        self.numbers = torch.tensor(numbers, device=device)
        self.starts = self.numbers.cumsum(0) - self.numbers


def _padded(rows: list[list[list[float]]], device: torch.device) -> Tensor:
    most = max(len(each) for each in rows)
    out = torch.full((len(rows), most, 5), -1.0)
    for number, each in enumerate(rows):
        if each:
            out[number, : len(each)] = torch.tensor(each)
    return out.to(device)


def sample(pages: Pages, count: int, varied: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return crops, and what is on them as rows of class, left, top, right, bottom; class -1 is none.

    First the parts, then the areas of the masks: text, text on photographs, photographs.
    """
    device = pages.pixels.device
    chosen = torch.randint(len(pages.pixels), (count,), device=device)
    scale = torch.ones(count, device=device)
    if varied:
        scale = torch.where(
            torch.rand(count, device=device) < 0.45,
            scale,
            torch.exp(torch.empty(count, device=device).uniform_(-0.3, 0.3)),
        )
    span = CROP / scale
    size = pages.sizes[chosen]
    top = torch.floor(torch.rand(count, device=device) * (size[:, 0] + 64 - span).clamp(min=0))
    left = torch.floor(torch.rand(count, device=device) * (size[:, 1] + 32 - span).clamp(min=0))
    if varied:  # two in five crops show a part of a class that is drawn evenly, so that rare classes are seen
        kinds = torch.multinomial((pages.numbers > 0).float(), count, replacement=True)
        which = pages.starts[kinds] + (torch.rand(count, device=device) * pages.numbers[kinds]).long()
        spot = pages.middles[which]
        focus = torch.rand(count, device=device) < 0.4
        chosen = torch.where(focus, spot[:, 0].long(), chosen)
        size = pages.sizes[chosen]
        place = spot[:, 1:] - torch.empty(count, 2, device=device).uniform_(0.1, 0.9) * span[:, None]
        left = torch.where(focus, torch.minimum(place[:, 0], size[:, 1] - span + 32).clamp(min=0).floor(), left)
        top = torch.where(focus, torch.minimum(place[:, 1], size[:, 0] - span + 64).clamp(min=0).floor(), top)
    steps = (torch.arange(CROP, device=device) + 0.5) / CROP
    rows, columns = top[:, None] + steps * span[:, None], left[:, None] + steps * span[:, None]
    high, wide = pages.pixels.shape[1:3]
    y, x = rows - 0.5, columns - 0.5
    y0, x0 = y.floor().long().clamp(0, high - 1), x.floor().long().clamp(0, wide - 1)
    y1, x1 = (y0 + 1).clamp(max=high - 1), (x0 + 1).clamp(max=wide - 1)
    dy, dx = (y - y0).clamp(0, 1)[:, :, None, None], (x - x0).clamp(0, 1)[:, None, :, None]

    def pick(row: Tensor, column: Tensor) -> Tensor:
        return pages.pixels[chosen[:, None, None], row[:, :, None], column[:, None, :]].float()

    upper = pick(y0, x0) * (1 - dx) + pick(y0, x1) * dx
    lower = pick(y1, x0) * (1 - dx) + pick(y1, x1) * dx
    crops = (upper * (1 - dy) + lower * dy).permute(0, 3, 1, 2)
    parts = _placed(pages.parts[chosen], left, top, scale, MOST, 0.45)
    texts = _placed(pages.texts[chosen], left, top, scale, MOST_TEXT, 0.0)
    if varied:
        crops = _vary(crops)
    return crops, parts, texts


def _placed(boxes: Tensor, left: Tensor, top: Tensor, scale: Tensor, most: int, share: float) -> Tensor:
    """Move boxes onto their crops, and keep those of which at least a share is seen."""
    kind = boxes[:, :, 0]
    moved = boxes[:, :, 1:].clone()
    moved[:, :, 0::2] = (moved[:, :, 0::2] - left[:, None, None]) * scale[:, None, None]
    moved[:, :, 1::2] = (moved[:, :, 1::2] - top[:, None, None]) * scale[:, None, None]
    area = (moved[:, :, 2] - moved[:, :, 0]) * (moved[:, :, 3] - moved[:, :, 1])
    cut = moved.clamp(0, CROP)
    rest = (cut[:, :, 2] - cut[:, :, 0]).clamp(min=0) * (cut[:, :, 3] - cut[:, :, 1]).clamp(min=0)
    seen = (kind >= 0) & (rest >= share * area) & (rest > 12)
    kind = torch.where(seen, kind, -torch.ones_like(kind))
    order = kind.argsort(dim=1, descending=True)[:, :most]
    return torch.gather(torch.cat((kind[:, :, None], cut), 2), 1, order[:, :, None].expand(-1, -1, 5))


def _vary(crops: Tensor) -> Tensor:
    """Change colours: invert, swap channels, brighten, add noise, blur a little."""
    count, device = len(crops), crops.device

    def chance(share: float) -> Tensor:
        return torch.rand(count, 1, 1, 1, device=device) < share

    crops = torch.where(chance(0.12), 255 - crops, crops)
    swapped = crops[:, torch.randperm(3, device=device)]
    crops = torch.where(chance(0.4), swapped, crops)
    gain = torch.empty(count, 1, 1, 1, device=device).uniform_(0.7, 1.15)
    crops = torch.where(
        chance(0.4), crops * gain + (1 - gain) * torch.randint(0, 256, (count, 1, 1, 1), device=device), crops
    )
    grey = crops.mean(1, keepdim=True)
    crops = torch.where(chance(0.1), grey.expand_as(crops), crops)
    crops = torch.where(chance(0.1), functional.avg_pool2d(crops, 3, 1, 1, count_include_pad=False), crops)
    crops = torch.where(chance(0.15), crops + torch.randn_like(crops) * 4, crops)
    return crops.clamp(0, 255).round()


def targets(parts: Tensor, texts: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return heat, edges and their weight (small parts, then large), and masks, at a quarter of the size."""
    side = CROP // STRIDE
    places = (torch.arange(side, device=parts.device) + 0.5) * STRIDE
    kind, box = parts[:, :, 0], parts[:, :, 1:]
    known = kind >= 0
    wide, high = box[:, :, 2] - box[:, :, 0], box[:, :, 3] - box[:, :, 1]
    # The middle lies on the middle of a cell, so that the heat reaches 1 there.
    x = ((box[:, :, 0] + box[:, :, 2]) / 2 / STRIDE).floor() * STRIDE + STRIDE / 2
    y = ((box[:, :, 1] + box[:, :, 3]) / 2 / STRIDE).floor() * STRIDE + STRIDE / 2
    reach_x, reach_y = (wide * 0.11).clamp(2.2, 28), (high * 0.11).clamp(2.2, 28)
    across = torch.exp(-(((places - x[:, :, None]) / reach_x[:, :, None]) ** 2) / 2)
    down = torch.exp(-(((places - y[:, :, None]) / reach_y[:, :, None]) ** 2) / 2)
    bells = down[:, :, :, None] * across[:, :, None, :] * known[:, :, None, None]
    heat = torch.zeros(len(parts), len(PARTS), side, side, device=parts.device)
    index = kind.clamp(min=0).long()[:, :, None, None].expand_as(bells)
    heat.scatter_reduce_(1, index, bells, "amax")
    edges: list[Tensor] = []
    weights: list[Tensor] = []
    for group in ((kind < len(SMALL)) & known, kind >= len(SMALL)):
        best, which = (bells * group[:, :, None, None]).max(1)
        flat = which.flatten(1)
        near = torch.gather(box, 1, flat[:, :, None].expand(-1, -1, 4)).view(len(parts), side, side, 4)
        column, row = places[None, None, :], places[None, :, None]
        apart = (column - near[..., 0], row - near[..., 1], near[..., 2] - column, near[..., 3] - row)
        edges.append(torch.stack(apart, 1).clamp(min=0.3))
        weights.append(torch.where(best > 0.4, best, torch.zeros_like(best)))
    masks = torch.zeros(len(parts), len(MASKS), side, side, device=parts.device)
    area, drawn = texts[:, :, 0], texts[:, :, 1:]
    masks[:, 0] = _filled(drawn, area == 2, places, 0)
    masks[:, 1] = _filled(drawn, (area == 0) | (area == 1), places, 0.14)
    masks[:, 2] = _filled(drawn, area == 1, places, 0.14)
    return heat, torch.cat(edges, 1), torch.stack(weights, 1), masks


def _filled(box: Tensor, known: Tensor, places: Tensor, shrink: float) -> Tensor:
    trim = shrink * (box[:, :, 3] - box[:, :, 1])
    across = (places >= box[:, :, :1]) & (places <= box[:, :, 2:3])
    down = (places >= (box[:, :, 1] + trim)[:, :, None]) & (places <= (box[:, :, 3] - trim)[:, :, None])
    hit = torch.einsum("bny,bnx->byx", (down & known[:, :, None]).float(), across.float())
    return (hit > 0).float()


def loss_of(network: PartNetwork, crops: Tensor, parts: Tensor, texts: Tensor) -> tuple[Tensor, dict[str, float]]:
    heat, edges, weights, masks = targets(parts, texts)
    raw, log_edges = network.raw(crops)
    raw, log_edges = raw.float(), log_edges.float()
    logits = raw[:, : len(PARTS)]
    chance = logits.sigmoid().clamp(1e-5, 1 - 1e-5)
    peak = heat > 0.999
    rare = peak.sum().clamp(min=1)
    focal = -(peak * (1 - chance) ** 2 * chance.log()).sum()
    focal = focal - (~peak * (1 - heat) ** 4 * chance**2 * (1 - chance).log()).sum()
    focal = focal / rare
    distance = log_edges.exp()
    lost = torch.zeros((), device=crops.device)
    for group in (0, 1):
        mine, true, weight = (
            distance[:, 4 * group : 4 * group + 4],
            edges[:, 4 * group : 4 * group + 4],
            weights[:, group],
        )
        lost = lost + (_apart(mine, true) * weight).sum() / weight.sum().clamp(min=1)
    shown = raw[:, len(PARTS) :]
    mask = functional.binary_cross_entropy_with_logits(shown, masks)
    both = (shown.sigmoid() * masks).sum((0, 2, 3))
    dice = 1 - (2 * both + 10) / (shown.sigmoid().sum((0, 2, 3)) + masks.sum((0, 2, 3)) + 10)
    total = focal + 2 * lost + 2 * mask + 0.5 * dice.sum()
    return total, {"heat": focal.detach(), "edges": lost.detach(), "mask": mask.detach()}  # pyright: ignore[reportReturnType]


def _apart(mine: Tensor, true: Tensor) -> Tensor:
    """Return 1 minus the generalised overlap of two boxes around one point, and a little of their distance."""
    low, high = torch.minimum(mine, true), torch.maximum(mine, true)
    both = (low[:, 0] + low[:, 2]) * (low[:, 1] + low[:, 3])
    areas = (mine[:, 0] + mine[:, 2]) * (mine[:, 1] + mine[:, 3]) + (true[:, 0] + true[:, 2]) * (
        true[:, 1] + true[:, 3]
    )
    either = areas - both
    hull = (high[:, 0] + high[:, 2]) * (high[:, 1] + high[:, 3])
    near = (mine.log() - true.clamp(min=0.5).log()).abs().clamp(max=2).mean(1)
    return 1 - both / either + (hull - either) / hull + 0.2 * near


@torch.no_grad()
def decode(out: Tensor, least: float) -> list[list[tuple[int, float, list[float]]]]:
    """Return the parts of each crop: class, chance, box."""
    heat = out[:, : len(PARTS)]
    peaks = (heat == functional.max_pool2d(heat, 3, 1, 1)) & (heat > least)
    found: list[list[tuple[int, float, list[float]]]] = [[] for _ in range(len(out))]
    for crop, kind, row, column in peaks.nonzero().tolist():
        start = len(PARTS) + (0 if kind < len(SMALL) else 4)
        left, top, right, bottom = out[crop, start : start + 4, row, column].tolist()
        x, y = (column + 0.5) * STRIDE, (row + 0.5) * STRIDE
        found[crop].append((kind, float(heat[crop, kind, row, column]), [x - left, y - top, x + right, y + bottom]))
    return found


def overlap(one: list[float], two: list[float]) -> float:
    wide, high = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    both = wide * high if wide > 0 and high > 0 else 0.0
    return both / ((one[2] - one[0]) * (one[3] - one[1]) + (two[2] - two[0]) * (two[3] - two[1]) - both + 1e-9)


@torch.no_grad()
def measure(network: PartNetwork, pages: Pages, rounds: int, count: int) -> dict[str, Any]:
    """Return for each class how many are found, how many of those reported are right, and the masks' overlap."""
    network.eval()
    torch.manual_seed(SEED)
    right, told, true = ([0] * len(PARTS) for _ in range(3))
    both, either = torch.zeros(len(MASKS)), torch.zeros(len(MASKS))
    for _ in range(rounds):
        crops, parts, texts = sample(pages, count, False)
        out = network(crops).float()
        masks = targets(parts, texts)[3]
        shown = out[:, -len(MASKS) :] > 0.5
        both += (shown & (masks > 0.5)).sum((0, 2, 3)).cpu()
        either += (shown | (masks > 0.5)).sum((0, 2, 3)).cpu()
        for found, known in zip(decode(out, 0.35), parts.tolist(), strict=True):
            wanted = [(int(each[0]), each[1:]) for each in known if each[0] >= 0]
            for kind, _ in wanted:
                true[kind] += 1
            for kind, _, box in sorted(found, key=lambda each: -each[1]):
                told[kind] += 1
                hit = next((each for each in wanted if each[0] == kind and overlap(each[1], box) > 0.5), None)
                if hit is not None:
                    wanted.remove(hit)
                    right[kind] += 1
    figures: dict[str, Any] = {
        name: {
            "found": round(right[k] / max(true[k], 1), 3),
            "right": round(right[k] / max(told[k], 1), 3),
            "number": true[k],
        }
        for k, name in enumerate(PARTS)
    }
    figures["masks"] = {name: round(float(both[k] / either[k].clamp(min=1)), 3) for k, name in enumerate(MASKS)}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps, whatever the time")
    parser.add_argument("--few", type=int, default=0, help="use so few pages: to see that the loss falls")
    chosen = parser.parse_args()
    begun = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(SEED)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    truth: dict[str, Any] = json.loads((chosen.data / "truth.json").read_text())
    names = [name for name in truth if (chosen.data / f"{name}.webp").is_file()]
    train = [name for name in names if name.startswith("train/")][: chosen.few or None]
    held = [name for name in names if name.startswith("held/")][: chosen.few or None]
    pages, unseen = Pages(chosen.data, train, truth, device), Pages(chosen.data, held, truth, device)
    print(f"{len(train)} pages, {len(held)} held, {device}, {time.monotonic() - begun:.0f} s", flush=True)
    network = PartNetwork().to(device, memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    mean = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.998), use_buffers=True
    )
    print(f"{sum(each.numel() for each in network.parameters()):,} parameters", flush=True)
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=0.02)
    start, step = time.monotonic(), 0
    done = 0.0
    while done < 1:
        done = (time.monotonic() - start) / (60 * chosen.minutes) if not chosen.steps else step / chosen.steps
        rate = 2e-3 * min(1, (step + 1) / 200) * (0.5 * (1 + math.cos(math.pi * min(done, 1))) + 0.005)
        for group in optimizer.param_groups:
            group["lr"] = rate
        network.train()
        crops, parts, texts = sample(pages, chosen.batch, True)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            total, each = loss_of(network, crops.contiguous(memory_format=torch.channels_last), parts, texts)
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        mean.update_parameters(network)
        step += 1
        if step % (200 if device.type == "cuda" else 5) == 0:
            shown = " ".join(f"{name} {float(value):.3f}" for name, value in each.items())
            print(f"step {step} {time.monotonic() - start:.0f} s loss {float(total.detach()):.3f} {shown}", flush=True)
    best: PartNetwork = mean.module if step > 1000 else network  # pyright: ignore[reportAssignmentType]
    chosen.out.mkdir(parents=True, exist_ok=True)
    torch.save({key: value.cpu() for key, value in best.state_dict().items()}, chosen.out / "parts.pt")
    figures = {
        "steps": step,
        "seconds": round(time.monotonic() - start),
        "held": measure(best, unseen, 8 if step > 1000 else 1, 32 if step > 1000 else 4),
    }
    (chosen.out / "figures.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()

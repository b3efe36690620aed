"""Trains the reader of scripts on lines that are drawn while it runs, and measures it on fonts that it has not seen.

    python train_reader.py INPUTS OUT [--minutes 9] [--steps 0] [--workers 15]

Each worker draws lines and groups them by width; all lines lie on the device as bytes, and noise is made there. OUT gets
`reader.pt` (the averaged weights), `figures.json` and samples of what was read wrong.
"""

import argparse
import json
import multiprocessing
import random
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from reader_letters import LETTERS, NUMBERS
from reader_lines import HEIGHT, SCRIPTS, STEP, LineMaker
from reader_network import STRIDE, ReaderNetwork
from torch import Tensor
from torch.nn import functional

GROUP = 64  # lines of one width that travel together
BATCH = 4  # groups in one step
SEED = 21
HELD = 300  # lines of each script that are measured
SOON = 200_000  # lines from which on drawing need not be fast
BEST = 1.5e-3
AVERAGED = 0.999


def draw_groups(folder: Path, seed: int, out: Any) -> None:
    """Draw lines and send them in groups of one width."""
    waiting: dict[int, list[tuple[Any, str]]] = defaultdict(list)
    for cover, label, _ in LineMaker(folder, seed).lines():
        width = -(-cover.shape[1] // STEP) * STEP
        if len(label) * 2 + 2 > cover.shape[1] // STRIDE:
            continue
        waiting[width].append((cover, label))
        if len(waiting[width]) == GROUP:
            out.put(pack(waiting.pop(width), width))


def pack(lines: list[tuple[Any, str]], width: int) -> tuple[Any, Any, Any, Any]:
    pixels = np.zeros((len(lines), HEIGHT, width), np.uint8)
    for row, (cover, _) in enumerate(lines):
        pixels[row, :, : cover.shape[1]] = cover
    labels = [[NUMBERS[letter] for letter in label] for _, label in lines]
    lengths = np.array([len(each) for each in labels], np.int64)
    widths = np.array([cover.shape[1] for cover, _ in lines], np.int32)
    return pixels, np.concatenate([np.array(each, np.int16) for each in labels]), lengths, widths


class Lines:
    """Groups of lines on the device, by width; the oldest go when there are too many."""

    def __init__(self, queue: Any, device: torch.device, most: int) -> None:
        self._groups: dict[int, list[tuple[Tensor, Tensor, Tensor, Tensor]]] = defaultdict(list)
        self._queue, self._device, self._most = queue, device, most
        self.count = self.seen = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        while True:
            pixels, labels, lengths, widths = self._queue.get()
            seen, spelt = (
                torch.from_numpy(pixels).to(self._device),
                torch.from_numpy(labels.astype(np.int64)).to(self._device),
            )
            group = seen, spelt, torch.from_numpy(lengths), torch.from_numpy(widths).to(self._device)
            if self.count > SOON:
                time.sleep(0.008)  # the steps need the processor too
            with self._lock:
                own = self._groups[pixels.shape[2]]
                own.append(group)
                self.seen += GROUP
                if self.count >= self._most:
                    largest = max(self._groups.values(), key=len)
                    del largest[0]
                else:
                    self.count += GROUP

    def batch(self, dice: random.Random) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        with self._lock:
            ready = {width: groups for width, groups in self._groups.items() if groups}
            width = dice.choices(list(ready), [len(groups) for groups in ready.values()])[0]
            number = max(1, min(BATCH, BATCH * 640 // width + 1))
            chosen = dice.sample(ready[width], min(number, len(ready[width])))
        pixels, labels, lengths, widths = (torch.cat([group[part] for group in chosen]) for part in range(4))
        return pixels, labels, lengths, widths


def add_noise(pixels: Tensor, widths: Tensor) -> Tensor:
    """Return lines as they come from screens: other contrast, blur, noise, uneven paper."""
    seen = pixels[:, None].float() / 255
    count, device = len(seen), seen.device

    def chance(part: float) -> Tensor:
        return (torch.rand(count, 1, 1, 1, device=device) < part).float()

    def between(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(count, 1, 1, 1, device=device)

    seen = seen.clamp_min(1e-4) ** between(0.65, 1.5)
    soft = functional.avg_pool2d(functional.pad(seen, (1, 1, 1, 1), "replicate"), 3, 1)
    seen = torch.lerp(seen, soft, chance(0.3) * between(0, 1))
    uneven = torch.randn(count, 1, 4, max(seen.shape[3] // 48, 2), device=device)
    uneven = functional.interpolate(uneven, seen.shape[2:], mode="bilinear")
    seen = seen + chance(0.25) * between(0, 0.18) * uneven * (1 - seen)
    grain = torch.randn(count, 1, HEIGHT // 2, seen.shape[3] // 2, device=device)
    seen = seen + chance(0.4) * between(0, 0.07) * functional.interpolate(grain, seen.shape[2:], mode="bilinear")
    seen = seen * between(0.85, 1.1)
    inside = torch.arange(seen.shape[3], device=device)[None, None, None] < widths[:, None, None, None]
    return (seen * inside).clamp(-0.4, 1.2)


def decode(best: list[int]) -> str:
    return "".join(LETTERS[each] for place, each in enumerate(best) if each and (not place or best[place - 1] != each))


def measure(network: torch.nn.Module, folder: Path, device: torch.device, held: bool, count: int) -> dict[str, Any]:
    """Return for each script the part of lines and of letters that are right, and some lines that are not."""
    network.eval()
    found: dict[str, Any] = {}
    for number, script in enumerate(SCRIPTS):
        lines = LineMaker(folder, 9000 + number, held).lines(script)
        right = wrong = letters = 0
        samples: list[tuple[str, str]] = []
        for _ in range(count):
            cover, label, _ = next(lines)
            wide = -(-cover.shape[1] // 16) * 16
            seen = torch.zeros(1, 1, HEIGHT, wide, device=device)
            seen[0, 0, :, : cover.shape[1]] = torch.from_numpy(cover.copy()).to(device).float() / 255
            with torch.inference_mode():
                text = decode(network.raw(seen)[0].argmax(1).tolist())
            right += text == label
            wrong += distance(text, label)
            letters += len(label)
            if text != label and len(samples) < 25:
                samples.append((label, text))
        found[script] = {"lines": right / count, "letters": 1 - wrong / letters, "samples": samples}
    return found


def distance(one: str, two: str) -> int:
    row = list(range(len(two) + 1))
    for at, letter in enumerate(one, 1):
        last, row[0] = row[0], at
        for to, other in enumerate(two, 1):
            last, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, last + (letter != other))
    return row[-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("inputs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--most", type=int, default=1_500_000)
    parser.add_argument("--held", type=int, default=HELD)
    parser.add_argument("--start", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    torch.manual_seed(SEED)
    dice = random.Random(SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = False
    context = multiprocessing.get_context("spawn")
    queue = context.Queue(64)
    workers = [
        context.Process(target=draw_groups, args=(asked.inputs, SEED * 1000 + number, queue), daemon=True)
        for number in range(asked.workers)
    ]
    for worker in workers:
        worker.start()
    lines = Lines(queue, device, asked.most)
    network = ReaderNetwork().to(device, memory_format=torch.channels_last)
    if asked.start:
        network.load_state_dict(torch.load(asked.start, map_location=device))
    averaged = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED), use_buffers=True
    )
    optimizer = torch.optim.AdamW(network.parameters(), BEST, weight_decay=0.02)
    seconds = asked.minutes * 60
    while lines.count < GROUP * (24 if device.type == "cuda" else 4) or lines.seen < 4 * GROUP:
        time.sleep(0.5)
    print(
        f"{sum(each.numel() for each in network.parameters()):,} numbers, first lines after {time.monotonic() - began:.1f} s",
        flush=True,
    )
    start = time.monotonic()
    losses: list[float] = []
    total = torch.zeros((), device=device)
    step = 0
    while True:
        part = step / asked.steps if asked.steps else (time.monotonic() - start) / seconds
        if part >= 1:
            break
        rate = BEST * min(1.0, (step + 1) / 500) * (0.5 * (1 + np.cos(np.pi * part)) + 0.004)
        for group in optimizer.param_groups:
            group["lr"] = rate
        pixels, labels, lengths, widths = lines.batch(dice)
        network.train()
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            answer = network.raw(add_noise(pixels, widths).contiguous(memory_format=torch.channels_last))
        chances = answer.float().log_softmax(2).transpose(0, 1)
        places = torch.full(
            (len(pixels),), chances.shape[0], dtype=torch.int64
        )  # whole numbers of 8 bytes: not by cuDNN
        loss = functional.ctc_loss(chances, labels, places, lengths, zero_infinity=True, reduction="none")
        loss = (loss / lengths.to(device)).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        averaged.update_parameters(network)
        total += loss.detach()
        step += 1
        often = 1 if asked.steps else 20 if step <= 100 else 100
        if step % often == 0:
            losses.append(float(total) / often)
            total.zero_()
            print(
                f"{step} {time.monotonic() - start:.0f} s loss {losses[-1]:.4f} lines {lines.count} drawn {lines.seen}",
                flush=True,
            )
            if not losses[-1] < (100 if step < 500 else 8):
                raise SystemExit("The loss does not fall.")
            if step % 2000 == 0:
                torch.save(averaged.module.state_dict(), asked.out / "reader.pt")
    for worker in workers:
        worker.terminate()
    torch.save(averaged.module.state_dict(), asked.out / "reader.pt")
    figures: dict[str, Any] = {"steps": step, "drawn": lines.seen, "losses": losses}
    for name, held in (("held", True), ("trained", False)):
        figures[name] = measure(averaged.module, asked.inputs, device, held, asked.held)
        for script, each in figures[name].items():
            print(name, script, f"lines {each['lines']:.4f} letters {each['letters']:.4f}", flush=True)
    (asked.out / "figures.json").write_text(json.dumps(figures, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()

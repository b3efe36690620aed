"""What a screenshot costs the local converter, phase by phase, with warm models: wall and processor seconds, memory.

python -m benchmarks.vision [PICTURE ...]

Without a name it takes the landing page of the tuning set (1280 × 2100), drawn by `python -m benchmarks.pages.render`.
Processor seconds count all cores: on two idle ones the networks' part takes half of that.
"""

import os
import resource
import sys
import time
from pathlib import Path

from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.see.detection_cache import clear_cache
from heald_local.write.stacks import write_files
from heald_pictures.detector import Progress
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import score

PAGE = Path(__file__).parent / "pages" / ".cache" / "tuning" / "landing.png"
WARMING = Path(__file__).parent / "pages" / ".cache" / "tuning" / "login.png"


class Clock:
    """Wall and processor seconds since the last look."""

    def __init__(self) -> None:
        self._wall, self._work = time.perf_counter(), time.process_time()

    def lap(self) -> tuple[float, float]:
        wall, work = time.perf_counter(), time.process_time()
        lap = wall - self._wall, work - self._work
        self._wall, self._work = wall, work
        return lap


def measure(path: Path) -> None:
    data = path.read_bytes()
    clear_cache()
    laps: dict[str, tuple[float, float]] = {}
    clock, whole = Clock(), Clock()

    def on_progress(progress: Progress) -> None:
        wall, work = clock.lap()
        before = laps.get(progress.stage, (0.0, 0.0))
        laps[progress.stage] = before[0] + wall, before[1] + work

    seen = detect_elements(data, on_progress)
    clock.lap()
    files = write_files(arrange(seen), "html_css")
    laps["arranging, writing"] = clock.lap()
    score(PageImage(data), PageImage(data))
    laps["comparing"] = clock.lap()
    print(f"{path.stem}: {seen.width} × {seen.height}, {len(seen.texts)} texts, {len(seen.pictures)} pictures")
    for name, (wall, work) in laps.items():
        print(f"  {name:20} {wall:6.2f} s wall {work:6.2f} s work")
    wall, work = whole.lap()
    print(f"  {'whole':20} {wall:6.2f} s wall {work:6.2f} s work, {len(str(files['index.html'])):,} characters")


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or [PAGE]
    missing = [path for path in (*paths, WARMING) if not path.is_file()]
    if missing:
        sys.exit(f"There is no picture {missing[0].name}; run: python -m benchmarks.pages.render")
    detect_elements(WARMING.read_bytes())
    for path in paths:
        measure(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    print(f"most memory {peak:,.0f} MB, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

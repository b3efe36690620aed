"""Where the models come from: files only, of known content; and work that is shared among the cores."""

import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heald_local import model as local_model
from heald_local.see import models, workers
from heald_pictures.errors import ModelsMissing

pytestmark = pytest.mark.skipif(not models.available(), reason="the models of heald[local] are not installed")


def _clear() -> None:
    models._folder.cache_clear()  # pyright: ignore[reportPrivateUsage]
    models._load.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the distribution with the models alone."""
    models_folder = models._folder()  # pyright: ignore[reportPrivateUsage]
    assert models_folder is not None
    folder = tmp_path / "models"
    folder.mkdir()
    for name in models.DIGESTS:
        shutil.copy(models_folder / name, folder / name)
    monkeypatch.setattr(models, "DATA", tmp_path)
    _clear()
    yield folder
    _clear()


def test_models_are_read_from_the_folder_of_the_distribution(package: Path) -> None:
    assert models._folder() == package  # pyright: ignore[reportPrivateUsage]
    assert models.available()
    assert len(models.characters()) > 1000


def test_a_model_that_is_another_is_refused_in_one_sentence(package: Path) -> None:
    file = package / models.READER
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelsMissing) as caught:
        models.reading_network()
    said = str(caught.value)
    assert models.READER in said
    assert "pip install 'heald[local]' --force-reinstall" in said
    assert str(package) not in said
    models.detection_network()


def test_a_distribution_without_both_files_has_no_models(package: Path) -> None:
    (package / models.DETECTOR).unlink()
    _clear()
    assert not models.available()
    with pytest.raises(ModelsMissing, match="not installed"):
        models.reading_network()


def test_work_is_spread_and_comes_back_in_order() -> None:
    names: set[str] = set()

    def work(number: int) -> int:
        names.add(threading.current_thread().name)
        return number * number

    assert list(workers.map_parallel(work, range(40))) == [number * number for number in range(40)]
    assert names


def test_two_that_work_at_the_same_time_share_the_cores() -> None:
    names: set[str] = set()

    def work(number: int) -> int:
        names.add(threading.current_thread().name)
        return number

    with ThreadPoolExecutor(2) as callers:
        both = [callers.submit(lambda: list(workers.map_parallel(work, range(200)))) for _ in range(2)]
    assert [future.result() for future in both] == [list(range(200))] * 2
    assert len(names) <= workers.count_cores()


def test_the_networks_are_loaded_ahead() -> None:
    _clear()
    models.load_ahead()
    for thread in threading.enumerate():
        if thread.name == "heald-load":
            thread.join()
    assert models._load.cache_info().currsize == len(models.DIGESTS)  # pyright: ignore[reportPrivateUsage]


def test_work_is_done_in_a_forked_process_too() -> None:
    program = """
import os
from heald_local.see.workers import map_parallel
assert list(map_parallel(abs, range(9))) == list(range(9))
child = os.fork()
if not child:
    os._exit(0 if list(map_parallel(abs, range(9))) == list(range(9)) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)


def test_the_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    program = "from heald_local.see import models; models.reading_network()"
    home = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_"))}
    words = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(words, check=True, timeout=120, env=home | {"HOME": str(tmp_path)})
    assert list(tmp_path.rglob("*")) == []  # it stores an id of the machine before it sends


def test_a_fault_ends_the_work_and_is_the_callers() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 3:
            raise ValueError("three")
        return number

    with pytest.raises(ValueError, match="three"):
        list(workers.map_parallel(work, range(1000)))
    assert len(begun) < 100


def test_the_provider_looks_where_the_models_are() -> None:
    assert local_model.available() == models.available()


HEAP = """
import re
import numpy as np
from pathlib import Path
from heald_local.see import memory

if {called}:
    assert memory.map_large_buffers()
array = np.ones(20 << 20, np.uint8)
del array  # glibc takes from its heap what is smaller than this from now on
array = np.ones(8 << 20, np.uint8)
start, end = re.search("^([0-9a-f]+)-([0-9a-f]+) .*heap", Path("/proc/self/maps").read_text(), re.MULTILINE).groups()
print(int(start, 16) <= array.ctypes.data < int(end, 16))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps large buffers")
def test_large_buffers_are_not_kept() -> None:
    """A child process: the setting cannot be taken back."""
    processes = [
        subprocess.run([sys.executable, "-c", HEAP.format(called=called)], capture_output=True, text=True, check=True)
        for called in (False, True)
    ]
    assert [process.stdout.strip() for process in processes] == ["True", "False"]

"""Writes the normal forms of all icons of `icons.jsonl`, and prints the SHA-256 that belongs into `see/icon_sets.py`.

python icon_forms.py ../src/heald_local/models/icons.jsonl ../src/heald_local/icons.bin
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

from heald_local.see.icon_plates import SIDE, normal_form
from heald_local.see.icon_sets import pack_forms, read_icon
from heald_local.see.icons import draw_usual


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    plates = [draw_usual(read_icon(line)) for line in source.read_bytes().splitlines()]
    empty = np.zeros((SIDE, SIDE), np.float32)
    data = pack_forms(np.stack([normal_form(plate) if plate is not None else empty for plate in plates]))
    target.write_bytes(data)
    print(hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main()

"""Trains the trees that tell fields from other boxes, and puts them into the file of the other roles.

    python train_fields.py ROWS ROLES [--rounds 100] [--leaves 8]

ROWS is the file that `field_rows.py` writes, ROLES the `roles.npz` of `train_roles.py`. It needs scikit-learn. Every
site, and every page of Design2Code, is in one of six groups; recall and precision at each threshold are those of
trees that have not seen the group.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from train_roles import NUMBERED, SEED, flatten, measure, train

GROUPS = 6


def split(rows: Any) -> Any:
    """Return the group of each row."""
    units = np.where(rows["sites"] == NUMBERED, rows["pages"], rows["sites"])
    names, places = np.unique(units, return_inverse=True)
    return (np.random.RandomState(SEED).permutation(len(names)) % GROUPS)[places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("roles", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=8)
    options = parser.parse_args()
    rows = dict(np.load(options.rows))
    groups, chances = split(rows), np.zeros(len(rows["field"]))
    for group in range(GROUPS):
        held = groups == group
        chances[held] = train(rows, "field", ~held, options).predict_proba(rows["features"][held])[:, 1]
    is_numbered, is_read = rows["sites"] == NUMBERED, rows["weights"] > 1
    places = {"other sites": ~is_numbered, NUMBERED: is_numbered & ~is_read, f"{NUMBERED}, read": is_read}
    for place, chosen in places.items():
        usable = rows["field_usable"] & chosen
        lines = measure(chances, rows["field"], usable)
        print(place, int(rows["field"][usable].sum()))
        print(*(f"{line['threshold']}: {line['recall']}/{line['precision']}" for line in lines))
    others = {name: array for name, array in np.load(options.roles).items() if not name.startswith("field_")}
    trees = flatten(train(rows, "field", np.ones(len(rows["field"]), bool), options), "field")
    np.savez_compressed(options.roles, **others, **trees)


if __name__ == "__main__":
    main()

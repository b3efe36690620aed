"""Trains the trees that tell links and headings, and measures them on sites that they have not seen.

    python train_roles.py ROWS OUT [--rounds 150] [--leaves 16]

ROWS is the file that `role_rows.py` writes; OUT gets `roles.npz` and `roles.json` (the figures). It needs scikit-learn.
Every fifth site is held out while thresholds are chosen, and a third of the pages of Design2Code; the trees of `roles.npz`
are then trained on all rows. They depend on the rows alone: one thread, a fixed seed, and an archive without times.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

THRESHOLDS = (0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
SEED = 39
NUMBERED = "design2code"  # the site whose pages are held out one by one
SITE_EVERY, PAGE_EVERY = 5, 3  # of the sites, and of the pages of that site, one is held out
FULL_PAGE = 60  # rows; those of a page with more of them count less


def make_classifier(rounds: int, leaves: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=rounds,
        learning_rate=0.08,
        max_leaf_nodes=leaves,
        min_samples_leaf=20,
        l2_regularization=2.0,
        random_state=SEED,
    )


def weigh_rows(rows: Any) -> Any:
    """Return the weight of each row: a page of many texts has less say than all of them together."""
    _, pages, counts = np.unique(rows["pages"], return_inverse=True, return_counts=True)
    return rows["weights"] * np.minimum(1.0, np.sqrt(FULL_PAGE / counts[pages]))


def hold_out(rows: Any) -> dict[str, Any]:
    """Return which rows are of sites, and of numbered pages, that are held out."""
    sites = sorted(set(rows["sites"]) - {NUMBERED})
    pages = sorted(set(rows["pages"][rows["sites"] == NUMBERED]))
    return {
        "other sites": np.isin(rows["sites"], sites[2::SITE_EVERY]),
        NUMBERED: np.isin(rows["pages"], pages[::PAGE_EVERY]),
    }


def measure(chances: Any, labels: Any, usable: Any) -> list[dict[str, float]]:
    """Return recall and precision at each threshold."""
    figures: list[dict[str, float]] = []
    for threshold in THRESHOLDS:
        chosen = usable & (chances >= threshold)
        recall = float(labels[chosen].sum() / max(labels[usable].sum(), 1))
        precision = float(labels[chosen].mean()) if chosen.any() else 0.0
        figures.append({"threshold": threshold, "recall": round(recall, 3), "precision": round(precision, 3)})
    return figures


def flatten(classifier: HistGradientBoostingClassifier, role: str) -> dict[str, Any]:
    """Return the trees as flat arrays. The children of a node stand beside each other, the left one first."""
    feature: list[int] = []
    cut: list[float] = []
    left: list[int] = []
    value: list[float] = []
    roots: list[int] = []

    def add() -> int:
        for column, start in ((feature, -1), (cut, 0.0), (left, -1), (value, 0.0)):
            column.append(start)
        return len(feature) - 1

    for (tree,) in classifier._predictors:
        nodes = tree.nodes
        roots.append(add())
        waiting = [(0, roots[-1])]
        while waiting:
            source, place = waiting.pop()
            node = nodes[source]
            if node["is_leaf"]:
                value[place] = float(node["value"])
                continue
            feature[place], cut[place] = int(node["feature_idx"]), float(node["num_threshold"])
            left[place] = add()
            waiting += [(int(node["left"]), left[place]), (int(node["right"]), add())]
    return {
        f"{role}_feature": np.array(feature, np.int16),
        f"{role}_cut": np.array(cut, np.float32),
        f"{role}_left": np.array(left, np.int16),
        f"{role}_value": np.array(value, np.float32),
        f"{role}_roots": np.array(roots, np.int16),
        f"{role}_base": np.float64(classifier._baseline_prediction.ravel()[0]),
    }


def train(rows: Any, role: str, chosen: Any, options: argparse.Namespace) -> HistGradientBoostingClassifier:
    used = chosen & rows[f"{role}_usable"]
    classifier = make_classifier(options.rounds, options.leaves)
    with threadpool_limits(1):
        return classifier.fit(rows["features"][used], rows[role][used], sample_weight=weigh_rows(rows)[used])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--leaves", type=int, default=16)
    options = parser.parse_args()
    rows = dict(np.load(options.rows))
    arrays: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    groups = hold_out(rows)
    is_text, is_run = rows["features"][:, 0] > 0, rows["features"][:, 1] > 0
    kinds = {"texts": is_text & ~is_run, "runs": is_run, "pictures": ~is_text}
    options.out.mkdir(parents=True, exist_ok=True)
    for role in ("link", "heading"):
        arrays |= flatten(train(rows, role, np.ones(len(rows[role]), bool), options), role)
        seen = ~np.logical_or.reduce(list(groups.values()))
        chances = train(rows, role, seen, options).predict_proba(rows["features"])[:, 1]
        for place, held in groups.items():
            for kind, chosen in kinds.items():
                usable = rows[f"{role}_usable"] & held & chosen
                if rows[role][usable].any():
                    figures[f"{role}: {kind} of {place}"] = measure(chances, rows[role], usable)
    np.savez_compressed(options.out / "roles.npz", **arrays)
    (options.out / "roles.json").write_text(json.dumps(figures, indent=1))
    for name, lines in figures.items():
        print(name, *(f"{line['threshold']}: {line['recall']}/{line['precision']}" for line in lines))


if __name__ == "__main__":
    main()

"""Trains the trees that tell links and headings, and chooses their thresholds by cross-validation over pages.

    python train_roles.py ROWS OUT [--rounds 90] [--folds 3]

ROWS is the file that `role_rows.py` writes; OUT gets `roles.npz`, `roles.json` (the figures) and the chances of all rows. It needs scikit-learn.
A page is either trained on or measured, never both.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold

THRESHOLDS = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7)
READ_WEIGHT = 2.0  # of a row that was read from a picture, where others come from the document itself
SEED = 39


def make_classifier(rounds: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=rounds,
        learning_rate=0.1,
        max_leaf_nodes=12,
        min_samples_leaf=12,
        l2_regularization=2.0,
        random_state=SEED,
    )


def cross_validate(rows: Any, role: str, folds: int, rounds: int) -> Any:
    """Return the chance of each row, by trees that have not seen its page."""
    features, labels, usable, weights = rows["features"], rows[role], rows[f"{role}_usable"], rows["weights"]
    chances = np.zeros(len(labels))
    for trained, measured in GroupKFold(folds).split(features, labels, rows["pages"]):
        trained = trained[usable[trained]]
        classifier = make_classifier(rounds)
        classifier.fit(features[trained], labels[trained], sample_weight=weights[trained])
        chances[measured] = classifier.predict_proba(features[measured])[:, 1]
    return chances


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rounds", type=int, default=90)
    parser.add_argument("--folds", type=int, default=3, help="0: no cross-validation")
    options = parser.parse_args()
    rows = dict(np.load(options.rows))
    arrays: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    options.out.mkdir(parents=True, exist_ok=True)
    for role in ("link", "heading"):
        usable = rows[f"{role}_usable"]
        classifier = make_classifier(options.rounds)
        classifier.fit(rows["features"][usable], rows[role][usable], sample_weight=rows["weights"][usable])
        arrays |= flatten(classifier, role)
        print(role, "trained", flush=True)
    np.savez_compressed(options.out / "roles.npz", **arrays)
    for role in ("link", "heading") if options.folds else ():
        chances = cross_validate(rows, role, options.folds, options.rounds)
        np.save(options.out / f"{role}_chances.npy", chances)
        usable, is_read = rows[f"{role}_usable"], rows["weights"] == READ_WEIGHT
        for name, group in (("all", usable), ("read", usable & is_read)):
            figures[f"{role} {name}"] = measure(chances, rows[role], group)
        if role == "link":
            is_text = rows["features"][:, 0] > 0
            figures["link texts"] = measure(chances, rows[role], usable & is_text)
            figures["link pictures"] = measure(chances, rows[role], usable & ~is_text)
        (options.out / "roles.json").write_text(json.dumps(figures, indent=1))
        print(role, json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()

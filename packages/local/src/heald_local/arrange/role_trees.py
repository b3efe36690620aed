"""Runs the boosted decision trees that tell links and headings from other texts.

`roles.npz` holds both ensembles; `packages/local/training/train_roles.py` makes it.
"""

import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heald_local.arrange.role_features import Matrix

Role = Literal["link", "heading", "field"]


@dataclass(frozen=True, slots=True)
class RoleTrees:
    """An ensemble as flat arrays. A node without a feature (-1) is a leaf; its right child follows its left one."""

    feature: NDArray[np.int16]
    cut: NDArray[np.float32]
    left: NDArray[np.int16]
    value: NDArray[np.float32]
    roots: NDArray[np.int16]
    base: float

    def predict(self, features: Matrix) -> Matrix:
        """Return the chance of each row of features from 0 to 1."""
        rows = np.arange(len(features))[:, None]
        nodes = np.broadcast_to(self.roots.astype(np.int64), (len(features), len(self.roots))).copy()
        while True:
            tested = self.feature[nodes]
            is_inner = tested >= 0
            if not is_inner.any():
                break
            is_right = features[rows, np.maximum(tested, 0)] > self.cut[nodes]
            nodes = np.where(is_inner, self.left[nodes] + is_right, nodes)
        return 1 / (1 + np.exp(-(self.base + self.value[nodes].sum(axis=1, dtype=np.float64))))


@cache
def load_trees(role: Role) -> RoleTrees:
    """Return the ensemble of a role."""
    content = (resources("heald_local") / "roles.npz").read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        feature, cut, left, value, roots, base = (
            arrays[f"{role}_{name}"] for name in ("feature", "cut", "left", "value", "roots", "base")
        )
    return RoleTrees(feature, cut, left, value, roots, float(base))

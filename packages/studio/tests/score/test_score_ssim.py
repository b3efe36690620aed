"""The structural similarity: what the definition gives, pixel by pixel, also where whole rows are equal."""

import numpy as np
import pytest

from heald_studio.score.page_image import Pixels
from heald_studio.score.ssim import ssim_map


def _by_definition(first: Pixels, second: Pixels, row: int, column: int) -> float:
    """The mean over the channels of the similarity of the 7 × 7 windows around a pixel, edges repeated."""
    values: list[float] = []
    for channel in range(3):
        x, y = (
            np.pad(picture[..., channel].astype(np.float64), 3, mode="edge")[row : row + 7, column : column + 7]
            for picture in (first, second)
        )
        c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
        both = float((x * y).mean() - x.mean() * y.mean())
        above = (2 * x.mean() * y.mean() + c1) * (2 * both + c2)
        values.append(float(above / ((x.mean() ** 2 + y.mean() ** 2 + c1) * (x.var() + y.var() + c2))))
    return sum(values) / 3


@pytest.mark.parametrize("changed", [slice(0, 1), slice(20, 24), slice(38, 40), slice(0, 40)])
def test_every_pixel_is_as_defined(changed: slice) -> None:
    made = np.random.default_rng(5)
    first = made.integers(0, 256, (40, 30, 3), dtype=np.uint8)
    second = first.copy()
    second[changed, 8:19] = made.integers(0, 256, second[changed, 8:19].shape, dtype=np.uint8)
    measured = ssim_map(first, second)
    expected = [[_by_definition(first, second, row, column) for column in range(30)] for row in range(40)]
    assert np.allclose(measured, expected, atol=2e-5)


def test_equal_pictures_are_exactly_alike() -> None:
    picture = np.random.default_rng(6).integers(0, 256, (30, 30, 3), dtype=np.uint8)
    assert (ssim_map(picture, picture.copy()) == 1.0).all()

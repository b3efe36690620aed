"""One thread while it lasts, as many as before afterwards."""

import numpy as np

from weft.vision.see import models


def test_threads_are_given_back() -> None:
    found = models._library()  # pyright: ignore[reportPrivateUsage]
    before = found[0]() if found is not None else 1
    with models.single_blas_thread(), models.single_blas_thread():
        assert found is None or found[0]() == 1
        assert (np.eye(40) @ np.eye(40)).trace() == 40
    assert found is None or found[0]() == before

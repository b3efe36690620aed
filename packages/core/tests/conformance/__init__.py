import pytest

pytest.register_assert_rewrite(f"{__name__}.runner", f"{__name__}.matching")

"""Marks for tests of what a machine may not have."""

import pytest

from heald_studio.browser.find_chromium import has_chromium

needs_chromium = pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed here")

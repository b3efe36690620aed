"""The browser and the sample projects of all tests of the studio."""

from studio_fixtures import browser, sample

__all__ = ["browser", "sample"]

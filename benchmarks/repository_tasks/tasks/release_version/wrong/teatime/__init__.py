"""Reminds you of your tea."""

__version__ = "1.5.0"

"""Reminds you of your tea."""

__version__ = "1.4.2"

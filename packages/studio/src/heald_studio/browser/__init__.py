"""Headless Chromium: renders pages without a network, and captures pages of the web through a filtering proxy."""

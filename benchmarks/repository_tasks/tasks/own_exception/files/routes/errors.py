"""The exceptions of this package."""

"""Locks: what a person locked in a design stays as it was, checked by rendering both states of the page."""

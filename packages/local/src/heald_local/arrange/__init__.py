"""Arranges detected elements as a tree of elements with CSS."""

"""Answers read plainly, one file a wire: no repair and no tolerance, every deviation from the API is a fault."""

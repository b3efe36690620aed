"""The visual score of a rendered page against its target picture."""

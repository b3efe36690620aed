"""The tools of variants besides those for files: screenshots, comparisons, pictures."""

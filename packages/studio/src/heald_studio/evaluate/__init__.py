"""Evaluation: runs converters over target pictures and reports how good the pages are."""

"""Prompts of variants: their texts, their history, and reports on them."""

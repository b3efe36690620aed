"""No settings of the machine are visible here."""

from clean_machine import clean_machine

__all__ = ["clean_machine"]

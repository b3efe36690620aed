"""The commands of `heald`, one module each."""

"""The commands of the studio: `build`, `eval` and `push`."""

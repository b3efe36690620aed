"""Pages of our own making that `weft eval` measures on; see README.md beside this file."""

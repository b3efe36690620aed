"""Pages of our own making that `heald eval` measures on; see README.md beside this file."""

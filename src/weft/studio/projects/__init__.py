"""Projects: designs being built, with their versions and the variants of each."""

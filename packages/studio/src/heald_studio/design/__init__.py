"""Design systems: reads the values and components of a repository, and scores how far a page keeps to them."""

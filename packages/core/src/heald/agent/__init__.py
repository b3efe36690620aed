"""The agent: the loop, the bus and the folds."""

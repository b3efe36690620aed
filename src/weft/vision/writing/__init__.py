"""Writers: one tree, many stacks."""

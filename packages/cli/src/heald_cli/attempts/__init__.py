"""`heald run --attempts N`: several agents at the same request, each in a worktree of the repository.

The attempts run in parallel and are compared. One of them is applied to the working tree; the worktrees are removed.
"""

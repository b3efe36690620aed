"""Diagnostics after an edit: errors that language servers find, and the formatter of the folder.

Both are programs that the user has installed. They run in the sandbox, without a network, and see the folder read-only.
"""

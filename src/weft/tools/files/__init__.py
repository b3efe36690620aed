"""The file tools: read, write, edit, patch, list and search the files of a workspace."""

from weft.tools.files.editing import edit_file
from weft.tools.files.listing import find_file, glob, list_files
from weft.tools.files.patching import apply_patch
from weft.tools.files.reading import read_file
from weft.tools.files.searching import search_files
from weft.tools.files.writing import create_file, write_file

READ_TOOLS = (read_file, list_files, glob, search_files, find_file)
"""Those that change nothing."""

FILE_TOOLS = (create_file, write_file, edit_file, apply_patch, *READ_TOOLS)

__all__ = [
    "FILE_TOOLS",
    "READ_TOOLS",
    "apply_patch",
    "create_file",
    "edit_file",
    "find_file",
    "glob",
    "list_files",
    "read_file",
    "search_files",
    "write_file",
]

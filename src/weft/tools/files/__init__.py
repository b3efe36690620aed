"""The file tools: read, write, edit, patch, list and search the files of a workspace."""

from weft.tools.files.edit import edit_file
from weft.tools.files.listing import find_file, glob, list_files
from weft.tools.files.patch import apply_patch
from weft.tools.files.read_write import create_file, read_file, write_file
from weft.tools.files.search import search_files

READ_TOOLS = (read_file, list_files, glob, search_files, find_file)
"""The tools that do not change files."""

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

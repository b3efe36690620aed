"""The families of the file tools."""

from weft.tools.files.edit import edit_file
from weft.tools.files.listing import find_file, glob, list_files
from weft.tools.files.patch import apply_patch
from weft.tools.files.read_write import create_file, read_file, write_file
from weft.tools.files.search import search_files

READ_TOOLS = (read_file, list_files, glob, search_files, find_file)
"""The tools that do not change files."""

FILE_TOOLS = (create_file, write_file, edit_file, apply_patch, *READ_TOOLS)

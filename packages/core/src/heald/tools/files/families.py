"""The families of file tools: `files`, and `read` for those that only read."""

from heald.tools.files.edit import edit_file
from heald.tools.files.listing import find_file, glob, list_files
from heald.tools.files.patch import apply_patch
from heald.tools.files.read_tool import read_file
from heald.tools.files.search import search_files
from heald.tools.files.write_tools import create_file, write_file

READ = (read_file, list_files, glob, search_files, find_file)
FILES = (create_file, write_file, edit_file, apply_patch, *READ)

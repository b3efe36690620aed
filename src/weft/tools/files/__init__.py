"""The file tools: read, write, edit, patch, list and search the files of a workspace. A tool is loaded at its use."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.tools.files.edit import edit_file
    from weft.tools.files.families import FILE_TOOLS, READ_TOOLS
    from weft.tools.files.listing import find_file, glob, list_files
    from weft.tools.files.patch import apply_patch
    from weft.tools.files.read_write import create_file, read_file, write_file
    from weft.tools.files.search import search_files

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

__getattr__ = lazy_exports(
    __name__,
    {
        "FILE_TOOLS": "weft.tools.files.families",
        "READ_TOOLS": "weft.tools.files.families",
        "apply_patch": "weft.tools.files.patch",
        "create_file": "weft.tools.files.read_write",
        "edit_file": "weft.tools.files.edit",
        "find_file": "weft.tools.files.listing",
        "glob": "weft.tools.files.listing",
        "list_files": "weft.tools.files.listing",
        "read_file": "weft.tools.files.read_write",
        "search_files": "weft.tools.files.search",
        "write_file": "weft.tools.files.read_write",
    },
)

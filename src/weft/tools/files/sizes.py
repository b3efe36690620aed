"""How much the file tools take and give at most. Counts are characters unless they say bytes."""

MAX_TEXT = 4 << 20
"""Bytes of a text file that can be edited, patched or searched."""
MAX_READ = 32 << 20
"""Bytes of a text file of which lines can be read."""
MAX_IMAGE = 3_750_000
"""Bytes of a picture: 5 MB once it is base64, which every provider takes."""
MAX_EDITS = 200
MAX_SECONDS = 2.0
"""For one look through the workspace."""
MAX_VISITED = 100_000
"""Files and folders that one look passes."""

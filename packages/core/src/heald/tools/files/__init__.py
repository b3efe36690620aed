"""The file tools: read, write, edit, patch, list and search the files of a workspace."""

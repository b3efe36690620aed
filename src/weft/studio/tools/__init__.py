"""The tools that variants have beside those for files: pictures, previews, comparisons."""

"""Projects: their versions, variants, pages and files, and how they are stored."""

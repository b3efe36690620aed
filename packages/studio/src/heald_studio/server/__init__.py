"""The studio on a server: its routes, previews and pages."""

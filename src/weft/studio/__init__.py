"""The studio: from a picture to working code, several models at once."""

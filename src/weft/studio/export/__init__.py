"""A project leaves the studio: as a zip, as a folder, or as one page that needs nothing else."""

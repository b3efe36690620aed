"""What the server answers, a file for each part of its API."""

"""Makes, edits and cuts out pictures, with an image provider or locally."""

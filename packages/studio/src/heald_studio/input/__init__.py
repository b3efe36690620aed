"""Reads and checks the inputs of a request: pictures, recordings, pages, folders, archives."""

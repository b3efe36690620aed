"""What a design can start from: pictures, recordings, pages, folders, archives. All of it is checked before use."""

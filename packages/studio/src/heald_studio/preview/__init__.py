"""Previews of projects: their files, served as a page without a network."""

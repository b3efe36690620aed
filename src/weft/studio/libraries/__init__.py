"""The libraries that previews need, kept beside the code and served in place of their CDN addresses."""

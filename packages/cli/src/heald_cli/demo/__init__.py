"""The story of `heald demo`, and the picture that it begins with."""

"""Where a part of a page comes from: the place in the picture, the lines, and the request that asked for it."""

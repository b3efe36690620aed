"""Numbers that follow from how pixels, channels and rectangles are defined, and that no measurement could change."""

PIXEL_MIDDLE = 0.5  # pixels from the edge of a pixel to its middle
LIGHTEST = 255  # the level of white in a channel
LEVELS = 256  # of a channel
SIDES = 4  # of a rectangle
BLOCK_AXES = 1, 3  # of a picture that is reshaped to rows of blocks, rows in them, columns of blocks, columns in them
ALMOST_ZERO = 1e-9  # the least divisor: what is divided by it is then 0 too

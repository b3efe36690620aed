"""The two weights in which lines are styled."""

REGULAR, BOLD = 400, 700  # as CSS counts them
LEAST_BOLD = 600  # from this weight on browsers use the bold face

from geometry.area import compute

LITRES_PER_SQUARE_METRE = 0.12


def litres(walls):
    """Paint for walls that are (width, height) each."""
    return round(sum(compute("rectangle", *wall) for wall in walls) * LITRES_PER_SQUARE_METRE, 2)

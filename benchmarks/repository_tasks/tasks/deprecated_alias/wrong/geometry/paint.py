from geometry.area import surface

LITRES_PER_SQUARE_METRE = 0.12


def litres(walls):
    """Paint for walls that are (width, height) each."""
    return round(sum(surface("rectangle", *wall) for wall in walls) * LITRES_PER_SQUARE_METRE, 2)

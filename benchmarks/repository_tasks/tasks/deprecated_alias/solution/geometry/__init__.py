from geometry.area import compute, surface

__all__ = ["compute", "surface"]

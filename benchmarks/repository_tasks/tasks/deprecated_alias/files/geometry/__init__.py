from geometry.area import compute

__all__ = ["compute"]

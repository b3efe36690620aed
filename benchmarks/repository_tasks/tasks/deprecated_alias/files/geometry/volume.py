from geometry import area


def prism(shape, height, *sizes):
    return area.compute(shape, *sizes) * height

import warnings

from referee import load

with warnings.catch_warnings():
    warnings.simplefilter("error")
    area, package = load("geometry.area"), load("geometry")
    assert area.surface("rectangle", 2, 3) == 6
    assert load("geometry.paint").litres([(5, 2), (3, 2)]) == 1.92
    assert load("geometry.volume").prism("triangle", 2, 3, 4) == 12
    assert package.surface("triangle", 3, 4) == 6
for function in (area.compute, package.compute):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert function("rectangle", 4, 5) == 20
    assert [warning.category for warning in caught] == [DeprecationWarning]
    assert "surface" in str(caught[0].message)

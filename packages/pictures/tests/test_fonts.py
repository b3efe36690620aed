"""Font faces: there is always one, and it draws and measures text."""

from heald_pictures.fonts import FONT_STACKS, face, faces, needs_wide, script_families


def test_there_is_a_face_for_every_family() -> None:
    assert faces()
    for family in FONT_STACKS:
        assert face(family) in faces()


def test_a_text_is_drawn_within_its_measures() -> None:
    plain = face("sans")
    left, top, right, bottom = plain.ink("Heald")
    drawn = plain.draw("Heald", 40)
    assert 0 < right - left <= plain.advance("Heald") * 1.1
    assert abs(drawn.shape[1] - 40 * (right - left)) <= 2
    assert abs(drawn.shape[0] - 40 * (bottom - top)) <= 2
    assert 0 <= drawn.min() <= drawn.max() <= 1


def test_scripts_have_families_of_their_own() -> None:
    assert needs_wide("价格 42")
    assert not needs_wide("Price 42 €")
    assert script_families("Price") == ()
    assert script_families("价格")[0] == "cjk"
    assert script_families("שלום")[0] == "hebrew"
    assert script_families("سلام")[0] == "arabic"

"""The help of `heald build`: twelve options at first, all of them with `--help-all`. Scores are whole percents."""

import re

import pytest

from heald_cli.main import main
from heald_studio.commands.score_text import format_score
from heald_studio.projects.project import VariantScore


def _options(flag: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        main(["build", flag])
    assert ended.value.code == 0
    return re.findall(r"^  (?:-\w \w+, )?(--[a-z-]+)", capsys.readouterr().out, re.MULTILINE)


def test_the_help_shows_twelve_options(capsys: pytest.CaptureFixture[str]) -> None:
    common = [name for name in _options("--help", capsys) if name != "--help-all"]
    assert len(common) == 12
    assert {"--models", "--stack", "--output", "--json"} <= set(common)
    every = _options("--help-all", capsys)
    assert set(common) < set(every)
    assert "--retry-attempts" in every


@pytest.mark.parametrize(("overall", "text"), [(0.999, "99 % match"), (1.0, "100 % match"), (0.57, "57 % match")])
def test_a_score_is_never_rounded_up(overall: float, text: str) -> None:
    score = VariantScore(block=1.0, text=1.0, position=1.0, colour=1.0, ssim=1.0, overall=overall)
    assert format_score(score) == text

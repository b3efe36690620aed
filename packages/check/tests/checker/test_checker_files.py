"""I40 to I44, broken."""

from hashlib import sha256

import pytest
from checker_logs import NEW_PAGE, PAGE, Log, call, cut_off, one_call, own_call, tools, violation_ids

from heald.core.errors import HealdError
from heald.core.events import (
    ExchangeResponse,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    MessageStart,
    ToolCompleted,
    ToolExecuting,
)
from heald.core.messages import ToolResult
from heald_check import check_log


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def written(*texts: str | None) -> Log:
    """One call gives a file these contents, one after the other."""
    asked = call(path="a.txt")
    log = Log().open().turn(asked).run(asked)
    for text in texts:
        log.write(asked, "a.txt", text)
    return log.result(asked).turn("Done.").close()


def test_written_is_right() -> None:
    assert violation_ids(written("one", "", "two", None, "three")) == set()


def test_i40_revisions_leap_or_repeat() -> None:
    assert violation_ids(written("one", "two").change(FileChanged, 1, revision=3)) == {"I40"}
    assert violation_ids(written("one", "two").change(FileChanged, 1, revision=1)) == {"I40"}
    assert violation_ids(written("one", "two").double(FileChanged)) == {"I40"}


def test_i40_begins_late() -> None:
    assert violation_ids(written("one").change(FileChanged, revision=2)) == {"I40"}
    assert violation_ids(written("one", "two").cut(FileChanged)) == {"I40"}


def test_i40_another_hash_before() -> None:
    assert violation_ids(written("one", "two").change(FileChanged, 1, prev_hash=digest("other"))) == {"I40"}
    assert violation_ids(written("one").change(FileChanged, prev_hash=digest("other"))) == {"I40"}
    assert violation_ids(written("one", None, "two").change(FileChanged, 2, prev_hash=digest("one"))) == {"I40"}


def test_i40_states_where() -> None:
    log = written("one", "two").change(FileChanged, 1, revision=5)
    assert [v.seq for v in check_log(log.events())] == [log.find(FileChanged, 1) + 1]


def test_i41_without_its_tool() -> None:
    assert violation_ids(written("one").change(FileChanged, cause="call_other")) == {"I41"}
    assert violation_ids(written("one").change(FileChanged, cause="")) == {"I41"}


def test_i41_before_the_start_or_after_the_result() -> None:
    assert violation_ids(written("one").move(FileChanged, before=ToolExecuting)) == {"I41"}
    assert violation_ids(written("one").move(FileChanged, before=MessageStart, before_nth=1)) == {"I41"}


def test_i42_other_content_than_was_shown() -> None:
    assert violation_ids(tools().change(FilePreview, text="<h2>")) == {"I42"}
    assert violation_ids(tools().cut(FilePreview, 3)) == {"I42"}


def test_i42_other_content_than_is_there_already() -> None:
    """A tool that finds what it would write changes nothing."""
    again = call("call_2", path="a.txt", content=PAGE)

    def log(preview: str) -> Log:
        first = call(path="a.txt", content=PAGE)
        log = Log().open().turn(first).run(first).write(first, "a.txt", PAGE).result(first)
        log.turn(again, previews={"call_2": ("a.txt", preview)}).run(again).result(again)
        return log.turn("Done.").close()

    assert violation_ids(log(PAGE)) == set()
    assert violation_ids(log(NEW_PAGE)) == {"I42"}


def test_i42_a_leap() -> None:
    assert "I42" in violation_ids(tools().cut(FilePreview, 1))
    assert violation_ids(tools().change(FilePreview, 3, offset=100)) == {"I42"}


def test_i42_of_no_call() -> None:
    assert "I42" in violation_ids(one_call().insert(FilePreview("call_9", "a", 0, "x"), before=ExchangeResponse))


def test_i42_a_failed_tool_withdraws_its_preview() -> None:
    assert violation_ids(cut_off()) == set()
    assert violation_ids(cut_off().cut(FilePreviewReset)) == {"I42"}
    assert violation_ids(cut_off().change(FilePreviewReset, path="b.html")) == {"I42"}


def test_i42_a_preview_may_begin_anew_after_its_reset() -> None:
    asked = call(path="index.html", content=PAGE)
    log = Log().open().turn(asked, previews={asked.id: ("index.html", PAGE)})
    log.add(FilePreviewReset(asked.id, "index.html")).preview(asked.id, "index.html", NEW_PAGE)
    log.run(asked).write(asked, "index.html", NEW_PAGE).result(asked).turn("Done.").close()
    assert violation_ids(log) == set()
    assert violation_ids(log.cut(FilePreviewReset)) >= {"I63", "I42"}


def test_i42_a_discarded_message_withdraws_its_previews() -> None:
    asked = call(path="index.html", content=PAGE)
    log = Log().open().start()
    log.block(0, asked, {asked.id: ("index.html", "<h1>Wrong")})
    log.drop_message().close("failed")
    assert violation_ids(log) == set()


def test_i43_no_hash() -> None:
    assert violation_ids(written("one").change(FileChanged, hash="abc")) == {"I43"}
    assert violation_ids(written("one").change(FileChanged, hash=digest("one").upper())) == {"I43"}


def test_i43_a_size_that_does_not_fit() -> None:
    assert violation_ids(written("one").change(FileChanged, size=0)) == {"I43"}
    assert violation_ids(written("").change(FileChanged, size=4)) == {"I43"}
    assert violation_ids(written("one", None).change(FileChanged, 1, size=3)) == {"I43"}


def test_i43_against_the_contents() -> None:
    def content_at(path: str, revision: int) -> bytes | None:
        return {("a.txt", 1): b"one", ("a.txt", 2): None}[path, revision]

    assert violation_ids(written("one", None), content_at=content_at) == set()
    assert violation_ids(written("two", None), content_at=content_at) == {"I43"}
    assert violation_ids(written("one", "two"), content_at=content_at) == {"I43"}


def test_i43_contents_that_are_no_longer_kept() -> None:
    def missing(path: str, revision: int) -> bytes | None:
        raise HealdError(f"{path} {revision} is gone")

    assert violation_ids(written("one"), content_at=missing) == set()


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../a", "a/../b", "./a", "a//b", "a/", "", "..", "a\\b", "C:\\a", "a/./b"],
)
def test_i44_paths(path: str) -> None:
    assert violation_ids(written("one").change(FileChanged, path=path)) == {"I44"}


def test_i44_nul() -> None:
    assert violation_ids(written("one").change(FileChanged, path="a\0b")) == {"I44"}


def test_i44_paths_of_previews() -> None:
    assert "I44" in violation_ids(cut_off().change(FilePreview, path="/a.html"))
    assert "I44" in violation_ids(cut_off().change(FilePreviewReset, path="../a.html"))


@pytest.mark.parametrize("path", ["a", ".env", "...", "src/..a/b", "ä ö/ü.html", "a:b"])
def test_i44_paths_that_are_right(path: str) -> None:
    assert violation_ids(written("one").change(FileChanged, path=path)) == set()


def test_the_engine_writes_itself() -> None:
    assert violation_ids(own_call()) == set()
    assert violation_ids(own_call().move(FileChanged, before=ToolExecuting)) == {"I41"}
    assert "I32" in violation_ids(own_call().cut(ToolCompleted))
    assert "I41" in violation_ids(own_call().move(ToolResult, before=FileChanged))

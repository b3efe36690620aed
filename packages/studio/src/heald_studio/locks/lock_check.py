"""Checks whether a change keeps what is locked: renders the page before and after it, and compares both.

A locked part is looked for wherever the change moved it. It is kept if it is drawn pixel for pixel as before in every
state that is looked at, has the same markup or words, and was not pushed aside, covered or replaced by a look-alike.
What cannot be rendered is refused.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from difflib import SequenceMatcher
from io import BytesIO

from heald.core.errors import HealdError
from heald_studio.locks.observation import Line, LockedPart, Observation, PageObserver, Visit
from heald_studio.locks.page_state import USUAL_STATES, PageState, added_states
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects.lock import BrokenLock, CannotLock, Lock
from heald_studio.score.scoring import digest_files
from heald_studio.stacks.stack import Stack

Files = Mapping[str, bytes]
ReadFiles = Callable[[str], Awaitable[Files]]
_MAX_PAGES = 24
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".svg", ".ico", ".mp4", ".webm", ".mp3")
_ALIKE = 0.6
_EMPTY = 500  # pixels by which empty space above a part may grow
_ROUNDED, _FAINT = 0.002, 32  # the share of pixels, and their levels, that a place on the page may change
_SAME = 0.6  # pixels that a size or a place may differ by


class _LockedPage:
    """What the locked parts of a page looked like, at each moment, before any change."""

    def __init__(self, stack: Stack, files: Files, page: str, locks: Sequence[Lock]) -> None:
        self.files = files
        self.moments: dict[str, Observation] = {}
        self.animations: dict[Visit, list[str]] = {}
        self._observer = PageObserver(ProjectPreview(stack, files), page, locks)
        self._busy = asyncio.Lock()

    async def prepare(self, visit: Visit, states: Sequence[PageState]) -> None:
        """Observe the states that were not observed yet."""
        async with self._busy:
            missing = [state for state in states if _key(visit, state) not in self.moments]
            if visit in self.animations and not missing:
                return
            observations, signatures = await self._observer.visit(visit, missing)
            self.animations.setdefault(visit, signatures)
            for observation in observations:
                self.moments[f"{visit} {observation.moment}"] = observation

    def expect(self, key: str) -> Observation | None:
        return self.moments.get(key)


_pages: "OrderedDict[tuple[object, ...], _LockedPage]" = OrderedDict()


async def check_locks(stack: Stack, locks: Sequence[Lock], after: Files, read_files: ReadFiles) -> list[BrokenLock]:
    """Return the locks that a change breaks, with the reasons. `read_files` reads the files of a lock's session."""
    broken: list[BrokenLock] = []
    groups: dict[tuple[str, str], list[Lock]] = {}
    for lock in locks:
        before = await read_files(lock.session)
        if lock.kind == "file":
            reason = _compare_file(lock.file, before, after)
            broken += [BrokenLock(lock, reason)] if reason else []
        elif dict(before) != dict(after):
            groups.setdefault((lock.session, lock.page or PAGE), []).append(lock)
    for (session, page), group in groups.items():
        broken += await _check_page(stack, group, await read_files(session), after, page)
    return broken


async def describe_part(stack: Stack, lock: Lock, files: Files) -> LockedPart:
    """Return the part of the page that a lock names. Raises CannotLock if there is none, or none that is visible."""
    observer = PageObserver(ProjectPreview(stack, files), lock.page or PAGE, [lock])
    observations, _ = await observer.visit("desktop", USUAL_STATES[:1])
    parts = observations[0].locks[0]
    if not parts:
        what = "text" if lock.kind == "text" else "element"
        raise CannotLock(f"The page has no such {what}; select it in the preview.")
    if parts[0].width < 1 or parts[0].height < 1:
        raise CannotLock("The page does not show this part, so it cannot be locked; lock the file instead.")
    return parts[0]


def _compare_file(path: str, before: Files, after: Files) -> str:
    if path not in after:
        return "the change deletes it"
    return "" if before.get(path) == after[path] else "the change alters it"


async def _check_page(stack: Stack, locks: Sequence[Lock], before: Files, after: Files, page: str) -> list[BrokenLock]:
    """Check the locks of one page: at a desk, on a phone, and after everything that can happen on it."""
    try:
        locked = _locked_page(stack, locks, before, page)
        check = _PageCheck(locks, locked, PageObserver(ProjectPreview(stack, after), page, locks, locked.expect))
        await check.visit("desktop", USUAL_STATES)
        if not check.broken and check.first is not None:
            former = locked.expect("desktop ")
            conditions = former.conditions if former is not None else []
            states = added_states(before, after, conditions, check.first.conditions)
            if states:
                await check.visit("desktop", states)
        if not check.broken:
            await check.visit("mobile", [])
        if not check.broken:
            await check.visit("provoked", [])
        return check.broken
    except HealdError as error:
        return [BrokenLock(locks[0], f"the page cannot be checked: {str(error).rstrip('.')}")]


def _locked_page(stack: Stack, locks: Sequence[Lock], files: Files, page: str) -> _LockedPage:
    key = (id(asyncio.get_running_loop()), digest_files(stack, files), page, tuple(locks))
    locked = _pages.get(key)
    if locked is None:
        locked = _pages[key] = _LockedPage(stack, files, page, locks)
    _pages.move_to_end(key)
    while len(_pages) > _MAX_PAGES:
        _pages.popitem(last=False)
    return locked


def _key(visit: Visit, state: PageState) -> str:
    return f"{visit} {'under the pointer (1)' if state.is_hovered else state.description}"


class _PageCheck:
    """The check of one page. It ends with the first moment at which a lock is broken."""

    def __init__(self, locks: Sequence[Lock], locked: _LockedPage, observer: PageObserver) -> None:
        self.broken: list[BrokenLock] = []
        self.first: Observation | None = None
        self._locks = locks
        self._locked = locked
        self._observer = observer

    async def visit(self, visit: Visit, states: Sequence[PageState]) -> None:
        await self._locked.prepare(visit, states)
        await self._observer.visit(
            visit, states, animations=self._locked.animations.get(visit, []), stop=self._is_broken
        )

    def _is_broken(self, observation: Observation) -> bool:
        former = self._locked.expect(f"{observation.visit} {observation.moment}")
        former = former or self._locked.expect(f"{observation.visit} ")
        if former is None:
            former = self._locked.expect("desktop ")
        assert former is not None
        self.first = self.first or observation
        reason = _compare_page(former, observation)
        when = f" {observation.moment}".rstrip()
        when = f" on a phone{when}" if observation.visit == "mobile" else when
        for number, lock in enumerate(self._locks):
            reason_here = reason or _compare_parts(lock, number, former, observation)
            if reason_here:
                self.broken.append(BrokenLock(lock, f"{reason_here}{when}"))
        return bool(self.broken)


def _compare_page(former: Observation, now: Observation) -> str:
    """Return what makes the whole page impossible to check."""
    if added := set(now.refreshes) - set(former.refreshes):
        return f"the page now leaves for another one by itself ({min(added)[:60]})"
    remote = [address for address in now.failed if "://" in address and address not in former.failed]
    picture_addresses = {address.partition("?")[0] for address in now.pictures}
    unknown = [
        address
        for address in remote
        if address not in picture_addresses and not address.lower().partition("?")[0].endswith(_PICTURES)
    ]
    return f"the page now loads {unknown[0]}, which cannot be checked" if unknown else ""


def _compare_parts(lock: Lock, number: int, former: Observation, now: Observation) -> str:
    before, parts = former.locks[number], now.locks[number]
    if not before:
        return ""  # it is not on the page at this moment, as before
    first = before[0]
    if lock.kind == "style":
        reasons = [_compare_style(first, part, has_pictures=now.has_pictures) for part in parts]
        return "" if "" in reasons else next(iter(reasons), "it is gone")
    matching = [
        part for part in parts if (part.html == first.html if lock.kind == "element" else part.text == first.text)
    ]
    if not matching:
        return _describe_missing(first, parts)
    compared = [(part, _compare_part(lock, first, part, now)) for part in matching]
    same = [part for part, reason in compared if not reason]
    if not same:
        return compared[0][1]
    twins = [part for part in before if part.picture == first.picture and part.html == first.html]
    if len(same) < len(twins):
        return f"only {len(same)} of its {len(twins)} copies are left as they were"
    if lock.kind == "element" and Counter(round(part.left) for part in twins) - Counter(
        round(part.left) for part in same
    ):
        return "it moved sideways"
    match = next((part for part in same if part.path == first.path), same[0])
    return _compare_place(first, match, former.lines, now.lines)


def _describe_missing(first: LockedPart, parts: Sequence[LockedPart]) -> str:
    if not parts:
        return "it is gone"
    if parts[0].text != first.text:
        return f"its text is now “{parts[0].text[:80]}”"
    return "its markup is not the same"


def _compare_style(first: LockedPart, part: LockedPart, *, has_pictures: bool) -> str:
    if added := set(part.looks) - set(first.looks):
        return f"words in it are drawn in another way ({min(added)[:60]})" if first.looks else ""
    if part.is_visible != first.is_visible:
        return "it is no longer visible" if first.is_visible else "it is visible now"
    if not has_pictures:
        return "" if part.styles == first.styles else "it is drawn in another way"
    return _compare_pictures(first, part)


def _compare_part(lock: Lock, first: LockedPart, part: LockedPart, now: Observation) -> str:
    if part.is_visible != first.is_visible:
        return "it is no longer visible" if first.is_visible else "it is visible now"
    if abs(part.width - first.width) > _SAME or abs(part.height - first.height) > _SAME:
        sizes = f"{part.width:.0f} × {part.height:.0f} px instead of {first.width:.0f} × {first.height:.0f}"
        return f"it is {sizes}"
    if lock.kind == "element" and abs(part.left - first.left) > _SAME:
        return f"it moved sideways by {abs(part.left - first.left):.0f} px"
    if first.is_visible and first.top >= 0 and (part.top < -_SAME or part.top + part.height > now.height + 1 + _SAME):
        return "it is outside of the page"
    if first.is_visible and first.left >= 0 and (part.left < -_SAME or part.left + part.width > now.width + 1 + _SAME):
        return "it is outside of the page"
    if now.has_pictures and (reason := _compare_pictures(first, part)):
        return reason
    if not now.has_pictures and part.styles != first.styles:
        return "it is drawn in another way"
    if any(old == "1" and new == "0" for old, new in zip(first.hits, part.hits, strict=False)):
        return "something lies over it"
    if part.looks != first.looks:
        return "something is drawn around it"
    return "" if part.flags == first.flags else "it is moved, or an element around it changes what it does"


def _compare_pictures(first: LockedPart, part: LockedPart) -> str:
    if first.picture == part.picture:
        return ""
    if not first.picture or not part.picture:
        return "it is not drawn as before"
    import numpy as np  # a server starts without numpy
    from PIL import Image

    old, new = (np.asarray(Image.open(BytesIO(it)).convert("RGB"), np.int16) for it in (first.picture, part.picture))
    if old.shape != new.shape:
        return f"it is {new.shape[1]} × {new.shape[0]} px instead of {old.shape[1]} × {old.shape[0]}"
    levels = np.abs(old - new).max(axis=2)
    unequal, count = int(np.count_nonzero(levels)), levels.size
    if not unequal:
        return ""
    if part.picture_in_place == first.picture and unequal <= _ROUNDED * count and levels.max() <= _FAINT:
        return ""  # letters and circles are drawn a little differently elsewhere on a page
    return f"{unequal:,} of its {count:,} pixels differ"


def _compare_place(first: LockedPart, part: LockedPart, before: Sequence[Line], now: Sequence[Line]) -> str:
    """Compare what is around a part: what was above it stays above, and no empty space pushes it away."""
    if part.above is not None and _emptiest(part.above) > _EMPTY + _emptiest(first.above or b""):
        return f"empty space pushes it down by {part.top - first.top:.0f} px"
    old, new = _unique_lines(before), _unique_lines(now)
    for words in old.keys() & new.keys():
        was, is_now = old[words], new[words]
        if was[2] <= first.top + 1 and is_now[1] >= part.top + part.height - 1:
            return f"it moved above “{words[:60]}”"
        if was[1] >= first.top + first.height - 1 and is_now[2] <= part.top + 1:
            return f"it moved below “{words[:60]}”"
    if abs(part.top - first.top) > 2:
        return _find_look_alike(first, before, now)
    return ""


def _find_look_alike(first: LockedPart, before: Sequence[Line], now: Sequence[Line]) -> str:
    """Find a text like that of the part where the part was before."""
    inside = [line for line in before if line[1] >= first.top - 1 and line[2] <= first.top + first.height + 1]
    inside = [line for line in inside if line[3] >= first.left - 1 and line[4] <= first.left + first.width + 1]
    for words, top, bottom, left, right in now:
        for old_words, old_top, old_bottom, old_left, old_right in inside:
            is_there = min(bottom, old_bottom) - max(top, old_top) > 0.5 * (old_bottom - old_top)
            is_there = is_there and min(right, old_right) - max(left, old_left) > 0.5 * (old_right - old_left)
            if is_there and words != old_words and SequenceMatcher(None, words, old_words).ratio() >= _ALIKE:
                return f"“{words[:60]}” stands where “{old_words[:60]}” was"
    return ""


def _unique_lines(lines: Sequence[Line]) -> dict[str, Line]:
    counts = Counter(line[0] for line in lines)
    return {line[0]: line for line in lines if counts[line[0]] == 1}


def _emptiest(picture: bytes) -> int:
    """Return the height of the tallest part of a picture that has one colour."""
    if not picture:
        return 0
    import numpy as np
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(picture)).convert("RGB"))
    is_plain = (pixels == pixels[:, :1]).all(axis=(1, 2))
    tallest = height = 0
    for row in range(len(pixels)):
        is_same = height > 0 and bool((pixels[row, 0] == pixels[row - 1, 0]).all())
        height = (height + 1 if is_same else 1) if is_plain[row] else 0
        tallest = max(tallest, height)
    return tallest

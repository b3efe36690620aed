"""Ends the work of a command whose output cannot be written."""

from collections.abc import Callable

from heald.core.envelope import Event


class OutputGuard:
    """Cancels the work when its output cannot be written: a reader has closed the pipe, or the disk is full."""

    def __init__(self, show: Callable[[Event], None], cancel: Callable[[str], object]) -> None:
        self._show = show
        self._cancel = cancel
        self._error: OSError | None = None

    def __call__(self, event: Event) -> None:
        if self._error is not None:
            return
        try:
            self._show(event)
        except OSError as error:
            self._error = error
            self._cancel("The output cannot be written.")

    def check(self) -> None:
        """Raise the error of the output, if there was one."""
        if self._error is not None:
            raise self._error

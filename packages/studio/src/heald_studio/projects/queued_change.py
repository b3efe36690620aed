"""A change of a project that waits to be sent, as immutable data."""

from typing import Literal

import msgspec

from heald_studio.projects.variant_ref import VariantRef

QueueStatus = Literal["waiting", "sending", "failed"]


class QueuedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change that waits for the variant that it changes."""

    id: str
    base: VariantRef
    text: str
    body: str
    """The blob with the body of the request."""
    created: float
    after: str = ""
    """The change that was in front of it: it is made in the version that comes of that one."""
    status: QueueStatus = "waiting"
    since: float = 0.0
    """When it began to be sent."""
    reason: str = ""
    """Why it failed."""

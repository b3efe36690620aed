"""A conversation over the client that openapi-python-client makes from the document."""

# pyright: basic, reportMissingImports=false
# pyrefly: ignore-errors

import json
import sys
import time
from typing import Any

from heald_client import AuthenticatedClient
from heald_client.api.about import get_health
from heald_client.api.conversation import post_sessions_session_messages
from heald_client.api.files import get_sessions_session_blobs_digest, post_sessions_session_blobs
from heald_client.api.sessions import get_sessions_session, get_sessions_session_log, post_sessions
from heald_client.api.studio import get_studio
from heald_client.api.v1 import post_v1_chat_completions
from heald_client.models import (
    Accepted,
    BlobView,
    Completion,
    CompletionBody,
    ErrorBody,
    ExchangeResponseEvent,
    HealthView,
    LogView,
    NewSession,
    SessionView,
    StudioView,
    Submission,
    TextDeltaEvent,
)
from heald_client.types import File


def main() -> None:
    url, token = (json.loads(argument) for argument in sys.argv[1:])
    client = AuthenticatedClient(base_url=url, token=token)
    made = post_sessions.sync(client=client, body=NewSession(title="Generated"))
    assert isinstance(made, SessionView), made
    sent = post_sessions_session_messages.sync(made.id, client=client, body=Submission(text="Hello"))
    assert isinstance(sent, Accepted), sent
    events: list[Any] = []
    for _ in range(200):
        log = get_sessions_session_log.sync(made.id, client=client)
        assert isinstance(log, LogView), log
        events = log.events
        if any(isinstance(event, ExchangeResponseEvent) for event in events):
            break
        time.sleep(0.05)
    missing = get_sessions_session.sync("ses_missing", client=client)
    assert isinstance(missing, ErrorBody), missing
    import io

    stored = post_sessions_session_blobs.sync(made.id, client=client, body=File(io.BytesIO(b"kept")))
    assert isinstance(stored, BlobView), stored
    read = get_sessions_session_blobs_digest.sync(made.id, stored.blob, client=client)
    assert isinstance(read, File), read
    body = CompletionBody.from_dict({"model": "heald", "messages": [{"role": "user", "content": "Hello"}]})
    completion = post_v1_chat_completions.sync(client=client, body=body)
    assert isinstance(completion, Completion), completion
    health = get_health.sync(client=client)
    assert isinstance(health, HealthView), health
    studio = get_studio.sync(client=client)
    assert isinstance(studio, StudioView), studio
    answer = {
        "title": made.title,
        "state": str(sent.state),
        "status": next(str(event.data.status) for event in events if isinstance(event, ExchangeResponseEvent)),
        "text": "".join(event.data.text for event in events if isinstance(event, TextDeltaEvent)),
        "missing": str(missing.error.code),
        "blob": read.payload.read().decode(),
        "completion": completion.choices[0].message.content,
        "stacks": len(studio.stacks) > 0,
    }
    print(json.dumps(answer))


main()

"""Writes docs/parameters.md from the tables of the endpoints. `make docs` runs it; a test checks it."""

from pathlib import Path

from heald_server.protocols.ai_sdk.chat_body import CHAT_PARAMETERS
from heald_server.protocols.openai.embedding_routes import EMBEDDING_PARAMETERS
from heald_server.protocols.openai.request import COMPLETION_PARAMETERS
from heald_server.protocols.openai.text_request import TEXT_PARAMETERS
from heald_server.protocols.responses.request import RESPONSE_PARAMETERS
from heald_server.protocols.shared.conversation_names import CONVERSATION_HEADERS, SESSION_HEADER
from heald_server.protocols.shared.parameter_table import DROPPED_HEADER, ParameterTable

PAGE = Path(__file__).resolve().parents[1] / "docs" / "parameters.md"
_HEAD = f"""# Parameters of other clients

This page is made from the tables in the code by `make docs`.
[server.md](server.md#endpoints-for-other-clients) describes the endpoints.

A parameter that changes nothing in the answer is *ignored*. One that cannot be served is *dropped*: the server's log
names it once, and the header `{DROPPED_HEADER}` of the response names it every time. A parameter that is not listed is
dropped too. One on which the client relies in the answer is *refused* with 400 and its name in `param`.

## Names of conversations

A request continues a session only if it names it. The name belongs to the owner of the token: the same name of another
owner is another conversation. The session continues as long as both sides have the same conversation.

| name | client |
|---|---|
"""


def page() -> str:
    rows = [f"| header `{header.name}` | {header.clients} |" for header in CONVERSATION_HEADERS]
    rows += [
        f"| header `{SESSION_HEADER}` | the id of a session, which each response has in the same header |",
        "| `chat_id` in the body of `/v1/chat/completions` | any |",
        "| `previous_response_id`, `conversation` in the body of `/v1/responses` | n8n and other clients of that API |",
        "| ids of items and calls in the messages, as earlier responses gave them | any; nothing is to be done |",
        "| `id` in the body of `/api/chat` | `useChat`, assistant-ui |",
    ]
    ending = (
        "\nWithout a name a request begins a new session from the messages that it holds. `user`, `metadata` and "
        "`prompt_cache_key` are not names:\nconversations share them.\n"
    )
    tables = (COMPLETION_PARAMETERS, RESPONSE_PARAMETERS, TEXT_PARAMETERS, EMBEDDING_PARAMETERS, CHAT_PARAMETERS)
    return _HEAD + "\n".join(rows) + "\n" + ending + "".join(map(_section, tables))


def _section(table: ParameterTable) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        unset = f"; accepted: {', '.join(f'`{_literal(value)}`' for value in row.unset)}" if row.unset else ""
        groups.setdefault((row.treatment, row.reason + unset), []).append(f"`{row.name}`")
    lines = [f"| {', '.join(names)} | {treatment} | {reason} |" for (treatment, reason), names in groups.items()]
    return f"\n## {table.endpoint}\n\n| parameter | treatment | note |\n|---|---|---|\n" + "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    return str(value).replace("'", '"') if not isinstance(value, bool) else str(value).lower()


def main() -> None:
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()

"""What scripted models say, by a word in the request: for looking at the page and for its tests, without any key."""

import asyncio
import json
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import heald
from heald.core.errors import InvalidRequest
from heald.core.messages import Message, Text, ToolDefinition
from heald.core.turn import Settings, Usage
from heald.providers.base import ProviderSession
from heald.providers.scripted import Script, ScriptedModel, ScriptedRequest

S = ScriptedModel

HELLO = """Here is what I found:

1. **Coats** keep you warm.
2. `gloves` help as well.

| place | °C |
|---|---|
| Oslo | -3 |
| Rome | 14 |

```python
def wear(place: str) -> str:
    return "coat" if place == "Oslo" else "shirt"
```

> Dress in layers, and look at [the forecast](https://example.org/forecast) first.
"""

HOSTILE = """<img src={sink}/raw.png> <img src=x onerror="window.__pwn=1"> <script>window.__pwn=1</script>

![a]({sink}/image.png) [click](javascript:window.__pwn=1) [data](data:text/html,<script>1</script>)

<iframe srcdoc="<script>parent.__pwn=1</script>"></iframe> <svg onload="window.__pwn=1"></svg>

[ref]: {sink}/reference.png
![b][ref]

<a href="https://example.org" onclick="window.__pwn=1">x</a> https://example.org/auto
"""

EVIL = "<img src=x onerror='window.__pwn=1'>]]></script><script>window.__pwn=1</script>"

MORE = "<p>Words that go on, one after the other.</p>\n" * 12
"""A draft shows for a while what stands before these."""

ENDLESS = MORE * 100
"""The slow model writes on these for minutes, also where a test on a busy machine comes to stop it late."""

ESCAPE = (
    """<!doctype html>
<html><head><title>Escape</title>
<link rel="dns-prefetch" href="{sink}"><link rel="preconnect" href="{sink}">
<link rel="stylesheet" href="{sink}/style.css">
<style>@import "{sink}/import.css"; body {{ background: url({sink}/back.png) }}</style>
<meta http-equiv="refresh" content="2;url={sink}/refresh"></head>
<body><h1>Escape</h1><img src="{sink}/image.png"><iframe src="{sink}/frame"></iframe>
<form action="{sink}/form" method="post"><button id="send">send</button></form>
<script src="{sink}/script.js"></script>
<script>
const tries = {{
  cookie: () => document.cookie = "a=1", storage: () => localStorage.setItem("a", "1"),
  base: () => indexedDB.open("a").onsuccess, parent: () => parent.document.title = "taken",
  top: () => top.location = "{sink}/top", frame: () => parent.__pwn = 1, fetch: () => fetch("{sink}/fetch"),
  beacon: () => navigator.sendBeacon("{sink}/beacon"), open: () => window.open("{sink}/open").name,
  socket: () => new WebSocket("{sink}".replace("http", "ws") + "/socket"),
  events: () => new EventSource("{sink}/events"),
  worker: () => navigator.serviceWorker.register("/sw.js"), own: () => fetch("/sessions"),
  send: () => document.getElementById("send").click(),
}};
for (const [name, attempt] of Object.entries(tries)) try {{ attempt(); }} catch (error) {{ void error; }}
parent.postMessage({{heald: "selected", html: "<img src=x onerror='window.__pwn=1'>", path: "body", index: 0}}, "*");
parent.postMessage({{heald: "error", text: "<img src=x onerror='window.__pwn=1'>"}}, "*");
</script><p id="below">The script above has run.</p>
"""
    + MORE * 2
    + "</body></html>\n"
)

SCRIPTED = (
    """<!doctype html>
<html lang="en"><head><title>Scripted</title></head><body><h1>Scripted</h1><p id="written"></p>
<script>document.getElementById("written").textContent = "by its own script";</script>
"""
    + MORE
    + """<p id="end">The end.</p></body></html>
"""
)

BEGUN = "<!doctype html>\n<html><head><title>Begun</title></head><body><h1>Turn {turn}</h1></body></html>\n"

BUSY = "<!doctype html>\n<html><head><title>Busy</title></head><body><h1>Busy</h1><script>for(;;){}</script></body>\n"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ margin: 0; font: 16px/1.6 system-ui, sans-serif; color: #1c2524; background: {back}; }}
  header {{ display: flex; gap: 24px; align-items: center; padding: 20px 6vw; }}
  header b {{ font-size: 18px; margin-right: auto; }}
  .hero {{ padding: 9vh 6vw; max-width: 760px; }}
  h1 {{ font-size: clamp(34px, 6vw, 60px); line-height: 1.05; margin: 0 0 16px; letter-spacing: -.02em; }}
  .button {{ display: inline-block; padding: 12px 22px; border-radius: 10px; background: {accent}; color: #fff; }}
  .cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 16px; }}
  .cards {{ padding: 0 6vw 8vh; }}
  .card {{ padding: 20px; border-radius: 14px; background: #ffffffcc; box-shadow: 0 1px 3px #0002; }}
</style>
</head>
<body>
<header><b>{title}</b><span>Prices</span><span>About</span></header>
<section class="hero">
  <h1>{head}</h1>
  <p>Plain, fast and calm. Everything in one place, and nothing in the way.</p>
  <p><a class="button" href="#">Start</a></p>
</section>
<section class="cards">
  <div class="card"><h3>Quick</h3><p>Ready before you have finished reading.</p></div>
  <div class="card"><h3>Open</h3><p>Every step can be seen and checked.</p></div>
  <div class="card"><h3>Yours</h3><p>It runs where you are.</p></div>
</section>
</body>
</html>
"""

RICH = """The sum is $\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}$, and it costs $5 or $10.[^1]

$$
\\int_0^\\infty e^{-x^2} \\, dx = \\frac{\\sqrt{\\pi}}{2}
$$

| name | sum |
|:-----|----:|
| one  |   1 |
| two  |  22 |

```python
def add(a, b):  # both
    return a + "1"
```

```mermaid
graph TD
  A[Start] --> B{Is it?}
  B -->|yes| C(Go)
  B -- no --> A
```

[^1]: As Gauss knew.
"""

LOOKS = (
    ("#eef6f4", "#0f766e", "Woven from many threads"),
    ("#f6f1ea", "#b45309", "Made by hand, at speed"),
    ("#eef1fb", "#4338ca", "A calmer way to build"),
    ("#f7eef4", "#9d174d", "Side by side, live"),
    ("#f2f4ee", "#4d7c0f", "Grown, not glued"),
    ("#f0f0f0", "#111827", "Nothing in the way"),
)


class Talker:
    """A model that answers by the words of the last request, in every session anew."""

    def __init__(self, name: str, *, look: int = 0, piece: int = 12, pause: float = 0.004) -> None:
        self.name = name
        self._look = look
        self._answers = count(1)
        self._piece = piece
        self._pause = pause

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        model = S([self._say] * 1000, name=self.name, piece=self._piece, pause=self._pause)
        return model.open_session(messages=messages, tools=tools, settings=settings)

    def _say(self, request: ScriptedRequest) -> Script:
        words, step = _asked(request.messages)
        for word, turns in self._turns(words).items():
            if word in words:
                return turns[min(step, len(turns) - 1)]
        return f"You said: {words[:200]}"

    def _turns(self, words: str) -> dict[str, Sequence[Script]]:
        found = re.search(r"127\.0\.0\.1:\d+", words)
        sink = f"http://{found[0] if found else '127.0.0.1:9'}"
        back, accent, head = LOOKS[self._look % len(LOOKS)]
        page = PAGE.format(title="Loom & Co", back=back, accent=accent, head=head)
        edit = {"path": "index.html", "edits": [{"old_text": head, "new_text": f"{head}, again"}]}
        number = next(self._answers) if "numbered" in words else 0
        question = {"question": "Which colour shall it be?", "suggestions": ["Teal", "Amber"]}
        return {
            "hidden commands": [[S.call("run_command", command=text) for text in _hidden_commands(words)], "Denied."],
            "hidden change": [[S.call("write_file", path="dashes.txt", content=_DASHES)], *_HIDDEN_CHANGE, "Denied."],
            "hidden question": [[S.call("ask_user", **_HIDDEN_QUESTION)], "Thank you."],
            "failing command": [[S.call("run_command", command="echo no tests; exit 2")], "It failed."],
            "long command": [[S.call("run_command", command=_long_command(), cwd="sub")], "Denied."],
            "hostile markdown": [HOSTILE.format(sink=sink)],
            "hostile words": [
                [
                    S.think(EVIL),
                    S.call("write_file", path=EVIL.replace("/", "-"), content=EVIL),
                    S.call(EVIL[:30], evil=EVIL),
                    S.call("ask_user", question=EVIL, suggestions=[EVIL, "no"]),
                ],
                EVIL,
            ],
            "hostile page": [[S.call("create_file", path="index.html", content=ESCAPE.format(sink=sink))], "Done."],
            "long page": [[S.call("create_file", path="index.html", content=_long(page))], "Done."],
            "endless page": [[S.call("create_file", path="index.html", content=_titled("Endless", ENDLESS))], "Done."],
            "tall page": [[S.call("create_file", path="index.html", content=_tall(head))], "Done."],
            "unfinished page": [
                [S.call("create_file", path="index.html", content=BEGUN.format(turn=turn))] for turn in range(30)
            ],
            "numbered answer": [f"This is answer {number}."],
            "numbered page": [[S.call("create_file", path="index.html", content=_titled(f"Page {number}"))], "Done."],
            "scripted page": [[S.call("create_file", path="index.html", content=SCRIPTED)], "Done."],
            "busy page": [[S.call("create_file", path="index.html", content=BUSY)], "Done."],
            "rich answer": [RICH],
            "markdown": [[S.think("The person asks about clothes. Oslo is cold."), HELLO]],
            "fail": [["Half of an ans", S.fail(InvalidRequest("The provider refuses this request: it is too long."))]],
            "endless": ["word " * 4000 * max(1, self._piece // 12)],  # as long at work with large deltas
            "question": [[S.call("ask_user", **question)], "Thank you, I will use that colour."],
            "write notes": [
                [
                    S.think("I shall write it down."),
                    "I will write that down.",
                    S.call("write_file", path="notes/today.md", content="# Today\n\n- looms\n- threads\n"),
                ],
                [S.call("read_file", path="notes/today.md"), S.call("read_file", path="missing.md")],
                "It is in `notes/today.md`.",
            ],
            "ask the helper slowly": [[S.call("helper", prompt="a few words")], "The helper has said it."],
            "a few words": ["word " * 400],
            "ask the helper": [
                ["I will ask a helper.", S.call("helper", prompt="write notes please")],
                "The helper has written it down.",
            ],
            "number the lines": [[S.call("write_file", path="review.txt", content=_numbered())], "It is numbered."],
            "change the lines": [
                [S.call("read_file", path="review.txt")],
                [S.call("edit_file", **_REVISION)],
                "It is revised.",
            ],
            "command": [[S.call("run_command", command="for i in 1 2 3; do echo step $i; sleep 0.2; done")], "It ran."],
            "headline": [[S.call("edit_file", **edit)], "The headline is changed."],
            "plan": [
                [S.call("todo_list", items=[{"text": "Look", "status": "done"}, {"text": "Write"}])],
                "That is the plan.",
            ],
            "build": [
                [
                    S.think("A calm landing page: a header, a hero, three cards."),
                    "I will build a landing page.",
                    S.call("create_file", path="index.html", content=page),
                    S.stop("tool_use", Usage(input=1840, output=960, reasoning=120)),
                ],
                "Done: a header, a headline and three cards.\n\nNext steps:\n- Change the headline\n- Add a footer",
            ],
        }


_REVISION: dict[str, Any] = {
    "path": "review.txt",
    "edits": [{"old_text": f"line {number}\n", "new_text": f"changed {number}\n"} for number in (3, 15, 27)],
}


_DASHES = "-- SELECT 1\nkept\n"
_HIDDEN_CHANGE: list[Script] = [
    [S.call("edit_file", path="dashes.txt", old_text="-- SELECT 1", new_text="++ rm -f victim.txt\u202e\u00a0")],
]
_HIDDEN_QUESTION: dict[str, Any] = {
    "question": "May I \x1b]0;rm -f victim.txt\x07\u202e?\nReally?",
    "suggestions": ["Y\u200bes", "No"],
}
_CASES = Path(__file__).parents[2] / "packages" / "core" / "tests" / "tools" / "visible_text_cases.json"


def _hidden_commands(words: str) -> list[str]:
    """The commands of a range of numbers that hide a part of themselves on a screen."""
    numbers = re.search(r"hidden commands (\d+) to (\d+)", words)
    if numbers is None:
        return []
    commands = [case["text"] for case in json.loads(_CASES.read_text())["cases"] if case["attack"]]
    return commands[int(numbers[1]) : int(numbers[2])]


def _long_command() -> str:
    more = "echo more\n" * 200
    return f"echo start\n{more}rm -f victim.txt\n{more}echo end"


def _titled(title: str, words: str = MORE * 3) -> str:
    """A page with a heading, and long enough to be stopped while a slow model writes it."""
    head = f"<!doctype html>\n<html lang='en'><head><title>{title}</title></head>"
    return f"{head}<body><h1>{title}</h1>{words}</body></html>"


def _numbered() -> str:
    return "".join(f"line {number}\n" for number in range(30))


def _long(page: str) -> str:
    """The same page with many more cards."""
    start, mark, end = page.partition("</section>\n</body>")
    words = "Words that go on. " * 6
    cards = [f'  <div class="card"><h3>Card {number}</h3><p>{words}</p></div>\n' for number in range(200)]
    return start + "".join(cards) + mark + end


def _tall(head: str) -> str:
    """A page that is scrolled, filled in and opened, and that records its own scroll events."""
    script = "window.scrolls = []; addEventListener('scroll', () => scrolls.push(scrollY), true);"
    style = "body{font:16px/1.5 sans-serif} section{min-height:60px}"
    fields = '<input id="name" value=""><details><summary>More</summary>Inside</details>'
    parts = [f"<section><h2>Part {number}</h2><p>Words of part {number}.</p></section>\n" for number in range(160)]
    top = f"<title>Tall</title><style>{style}</style><script>{script}</script>"
    body = f"<h1>{head}</h1>{fields}\n{''.join(parts)}"
    return f"<!doctype html>\n<html lang='en'><head>{top}</head><body>{body}</body></html>"


def _asked(messages: list[Message]) -> tuple[str, int]:
    """The words of the last request, and how many turns it already took."""
    at = max(number for number, message in enumerate(messages) if message.role == "user")
    words = " ".join(block.text for block in messages[at].content if isinstance(block, Text)).lower()
    return words, sum(message.role == "assistant" for message in messages[at:])


def talkers(piece: int) -> dict[str, Any]:
    """All models. `piece` is how many characters a delta of the quick ones has."""
    names = ["scripted/quick", "scripted/calm", "scripted/bright"]
    plain = Talker("scripted/plain", look=len(names))  # quick, and always with small deltas
    slow = Talker("scripted/slow", piece=4, pause=0.03)
    steady = Talker("scripted/steady", piece=6, pause=0.01)  # a hundred deltas a second
    patient = Talker("scripted/patient", piece=100, pause=0.5)  # as long at work as the slow one, with few deltas
    return {name: Talker(name, look=number, piece=piece) for number, name in enumerate(names)} | {
        "scripted/plain": plain,
        "scripted/slow": slow,
        "scripted/steady": steady,
        "scripted/patient": patient,
    }


helper = heald.Agent(Talker("scripted/helper"), tools=["files"]).as_tool("helper", "Lets another agent do something.")


@heald.tool
async def paint() -> heald.ToolOutput:
    """Paint a small picture."""
    await asyncio.sleep(0)
    return heald.ToolOutput(content=[heald.Image(media_type="image/png", data=DOT)], summary="Painted a dot")


@heald.tool(effect="run", name="run_command")
async def commands(command: str, cwd: str = "") -> str:
    """Say what would be run."""
    return f"{command} (in {cwd})" if cwd else command


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

"""A model that needs no key and no network: `local/vision` looks at a screenshot with vision code and writes the page.

It is a converter, not a language model, and says so. Its turns are those of every model: it thinks aloud, calls the
tools that it is given, reads their results, and ends with a sentence.

- `model`: the name a user writes, `LocalVision`; `session`: turn by turn, as every provider.
- `asked`: what the conversation asks for, and which calls were made for it so far. Every turn starts from that alone.
- `looking`: the vision code in a thread, once for each picture, however many ask.
- `building`: from a picture to a page; `pictures`, `ways`, `mending`, `edits`, `telling` are parts of it.
- `changing`: small changes of a page that is there; `wishes` reads them, `source` finds the place and makes them.
- `commands`: list, read, search, run.
- `servers`: other models of this machine.
"""

from weft.providers.local.model import LABEL, LocalVision, available

__all__ = ["LABEL", "LocalVision", "available"]

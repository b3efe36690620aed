"""The installed wires by name. One is loaded when it is first used: most programs need a single wire."""

from collections.abc import Iterator, Mapping

from heald.plugin_loader import PluginFailed, has_plugin, load_plugin, plugin_names, record_failure
from heald.wires.wire import Wire


class _InstalledWires(Mapping[str, Wire]):
    def __getitem__(self, name: str) -> Wire:
        wire = load_plugin("wires", name)
        if not isinstance(wire, Wire):
            error = TypeError(f"it must be a heald.plugins.Wire, not {type(wire).__name__}")
            raise PluginFailed(record_failure("wires", name, error))
        return wire

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and has_plugin("wires", name)

    def __iter__(self) -> Iterator[str]:
        return iter(plugin_names("wires"))

    def __len__(self) -> int:
        return len(plugin_names("wires"))


WIRES: Mapping[str, Wire] = _InstalledWires()

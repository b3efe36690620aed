"""Sessions with real endpoints: presets, transport, retries, watchdogs. Scripted and recorded models beside them."""

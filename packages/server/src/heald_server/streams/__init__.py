"""Live streams of events: server-sent events and WebSocket."""

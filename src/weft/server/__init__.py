"""The server: sessions over HTTP, server-sent events and WebSocket, for whoever has the token."""

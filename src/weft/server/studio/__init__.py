"""The studio over HTTP and WebSocket: projects, previews, and the socket where a design page already looks."""

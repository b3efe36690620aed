"""`@weft.tool`: a typed function becomes a tool."""

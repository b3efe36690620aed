"""The icon of the MCP server, which clients show beside its name."""

from base64 import b64encode

import mcp_types as types

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/>'
    '<path d="M7 11h18M7 16h18M7 21h18" stroke="#fff" stroke-opacity=".45" stroke-width="2.4" stroke-linecap="round"/>'
    '<path d="M11 7v18M16 7v18M21 7v18" stroke="#fff" stroke-width="2.4" stroke-linecap="round" '
    'stroke-dasharray="5 3.2"/></svg>'
)
ICONS = [
    types.Icon(
        src="data:image/svg+xml;base64," + b64encode(_SVG.encode()).decode(), mime_type="image/svg+xml", sizes=["any"]
    )
]

"""The family `web`."""

from heald.tools.web.fetch_tool import fetch_url

FAMILY = (fetch_url,)

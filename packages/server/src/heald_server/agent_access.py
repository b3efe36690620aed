"""The token, or the function, that gives access to the agent of a program."""

import os
from typing import Literal

from heald.core.errors import ConfigurationError
from heald_server.access.caller import Authenticate
from heald_server.access.tokens import AccessTokens, new_token

Auth = Literal["token", "none"] | Authenticate


class AgentAccess:
    """The token or the function that gives access."""

    def __init__(self, token: str | None, auth: Auth) -> None:
        if token is not None and auth != "token":
            raise ConfigurationError('A token goes with auth="token" only.')
        self.authenticate = None if isinstance(auth, str) else auth
        configured_token = token or os.environ.get("HEALD_TOKEN")
        self.is_generated = auth == "token" and not configured_token
        self.token = (configured_token or new_token()) if auth == "token" else None
        self.tokens = AccessTokens({self.token: ""} if self.token else {})

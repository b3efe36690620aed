"""agentx: the four layers of events of AgentX clients."""

from heald_server.protocols.agentx.dialect import AgentXDialect
from heald_server.protocols.protocol import ClientProtocol

PROTOCOL = ClientProtocol(name="agentx", dialect=AgentXDialect)

"""normalized: the events of a provider adapter."""

from heald_server.protocols.normalized.dialect import NormalizedDialect
from heald_server.protocols.protocol import ClientProtocol

PROTOCOL = ClientProtocol(name="normalized", dialect=NormalizedDialect)

"""One server under load and attack: kills, a frozen process, a full disk, hostile clients, providers and tools."""

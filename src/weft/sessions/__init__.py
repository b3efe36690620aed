"""Sessions: conversations that outlive the process, each one a log in a store."""

"""The network of sandboxed commands: a proxy outside of the sandbox that reaches allowed hosts by name."""

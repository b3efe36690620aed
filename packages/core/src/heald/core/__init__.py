"""The shared types of all packages: messages, events, errors, settings. Plain data, no I/O."""

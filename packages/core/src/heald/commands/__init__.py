"""What a command of `heald` is made of: options, settings and terminal output."""

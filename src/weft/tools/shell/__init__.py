"""The shell: commands in a sandbox of their own, with bounded time, output and reach."""

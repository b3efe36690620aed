"""The parts of `weft chat`: keys, the line that is typed, the screen, and the conversation behind it."""

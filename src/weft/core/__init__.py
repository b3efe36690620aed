"""The ground floor: the words every other floor speaks. Plain data, no I/O."""

"""The web for tools: fetching without reaching what is private, and pages as readable text."""

"""Benchmarks of Heald against a bare loop, the official SDKs and other frameworks, in one run."""

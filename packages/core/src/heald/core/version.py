"""The version of Heald. All distributions of a release have the same."""

VERSION = "0.2.0"

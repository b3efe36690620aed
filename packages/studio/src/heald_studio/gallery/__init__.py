"""Finished projects that ship with the studio: a person opens one and changes it, without a key."""

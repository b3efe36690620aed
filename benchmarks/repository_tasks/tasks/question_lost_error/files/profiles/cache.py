from profiles.decoding import decode_document
from profiles.files import read_bytes


class CachedFolder:
    """Profiles of a folder, each read once."""

    def __init__(self, folder):
        self._folder = folder
        self._profiles = {}

    def lookup(self, user):
        try:
            return self._profiles[user]
        except KeyError:
            data = read_bytes(self._folder, user)
            self._profiles[user] = decode_document(data)
            return self._profiles[user]

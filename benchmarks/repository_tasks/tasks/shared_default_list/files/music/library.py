from music.playlist import Playlist


class MusicLibrary:
    def __init__(self):
        self.playlists = {}

    def playlist(self, name):
        """The playlist with a name, created when it is missing."""
        if name not in self.playlists:
            self.playlists[name] = Playlist(name)
        return self.playlists[name]

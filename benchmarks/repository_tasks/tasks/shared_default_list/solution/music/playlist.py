"""Playlists of songs."""

from music.song import Song


class Playlist:
    def __init__(self, name, songs=None):
        self.name = name
        self.songs = [] if songs is None else songs

    def add(self, song):
        self.songs.append(song)

    def seconds(self):
        return sum(song.seconds for song in self.songs)


def from_titles(name, titles):
    """A playlist of songs whose length is not known."""
    return Playlist(name, [Song(title, 0) for title in titles])

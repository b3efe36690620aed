from referee import load

Playlist = load("music.playlist").Playlist
Song = load("music.song").Song
library = load("music.library").MusicLibrary()
library.playlist("a").add(Song("One", 60))
assert [song.title for song in library.playlist("a").songs] == ["One"]
assert list(library.playlist("b").songs) == []
assert library.playlist("a").seconds() == 60
first, second = Playlist("x"), Playlist("y", songs=[Song("Two", 5)])
first.add(Song("Three", 7))
assert first.seconds() == 7 and second.seconds() == 5 and Playlist("z").seconds() == 0
assert len(load("music.playlist").from_titles("t", ["p", "q"]).songs) == 2

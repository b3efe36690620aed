"""The leaderboard of the game."""

from game.player import Player


def leaderboard(players: list[Player]) -> list[tuple[int, str, int]]:
    """Rank, name and points of every player."""
    return [(rank, player.name, player.points) for rank, player in enumerate(sorted(players, key=lambda p: (-p.points, p.name.lower())), start=1)]

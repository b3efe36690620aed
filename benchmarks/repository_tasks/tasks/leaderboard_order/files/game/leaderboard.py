"""The leaderboard of the game."""

from game.player import Player


def leaderboard(players: list[Player]) -> list[tuple[int, str, int]]:
    """Rank, name and points of every player."""
    return [(rank, player.name, player.points) for rank, player in enumerate(players, start=1)]

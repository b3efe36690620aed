"""The leaderboard of the game."""

from game.player import Player


def leaderboard(players: list[Player]) -> list[tuple[int, str, int]]:
    """Rank, name and points of every player."""
    rows: list[tuple[int, str, int]] = []
    for place, player in enumerate(sorted(players, key=lambda player: (-player.points, player.name.lower())), start=1):
        rank = rows[-1][0] if rows and rows[-1][2] == player.points else place
        rows.append((rank, player.name, player.points))
    return rows

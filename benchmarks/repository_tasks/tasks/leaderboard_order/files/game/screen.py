from game.leaderboard import leaderboard


def screen(players):
    return "\n".join(f"{rank:>2}. {name:<12}{points:>6}" for rank, name, points in leaderboard(players))

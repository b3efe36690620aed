from referee import load

Player = load("game.player").Player
board = load("game.leaderboard").leaderboard
players = [Player("zoe", 10), Player("Bob", 30), Player("amy", 20), Player("Zed", 10), Player("Al", 20), Player("Cy")]
copy = list(players)
rows = [tuple(row) for row in board(players)]
assert rows == [(1, "Bob", 30), (2, "Al", 20), (2, "amy", 20), (4, "Zed", 10), (4, "zoe", 10), (6, "Cy", 0)], rows
assert players == copy, "the list of the caller changed"
assert list(board([])) == []
assert load("game.screen").screen([Player("Al", 5)]) == " 1. Al               5"

from pathlib import Path

from referee import load, python

clean = load("backups.cleaning").clean
folder = Path("check")
folder.mkdir()
names = [f"backup-2024-01-0{day}.zip" for day in range(1, 6)]
for name in [*names, "notes.txt"]:
    (folder / name).touch()
assert clean("check", keep=2, dry_run=True) == names[:3]
assert len(list(folder.iterdir())) == 6
result = python("-m", "backups", "check", "--dry-run", "--keep", "4")
assert result.stdout == f"would delete {names[0]}\n", result
assert len(list(folder.iterdir())) == 6
result = python("-m", "backups", "check", "--keep", "4")
assert result.stdout == f"deleted {names[0]}\n", result
assert clean("check") == names[1:2]
assert sorted(path.name for path in folder.iterdir()) == [*names[2:], "notes.txt"]

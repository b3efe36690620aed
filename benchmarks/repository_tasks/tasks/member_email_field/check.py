from referee import load, text

Member = load("club.member").Member
files, listing = load("club.files"), load("club.listing").listing
old = files.load(text("old.json"))
assert [member.email for member in old] == [None, None]
assert listing(old) == ["2004  Bo", "2011  Ines"]
members = [Member("Kai", 2020, email="kai@example.org"), Member("Lu", 2019)]
assert files.load(files.dump(members)) == members
assert listing(members) == ["2019  Lu", "2020  Kai <kai@example.org>"]
assert Member("Lu", 2019).email is None

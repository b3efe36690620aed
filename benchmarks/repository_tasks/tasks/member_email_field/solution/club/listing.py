def _name(member):
    return f"{member.name} <{member.email}>" if member.email else member.name


def listing(members):
    """One line per member, the longest membership first."""
    return [f"{member.joined}  {_name(member)}" for member in sorted(members, key=lambda member: member.joined)]

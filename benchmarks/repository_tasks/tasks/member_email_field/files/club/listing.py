def listing(members):
    """One line per member, the longest membership first."""
    return [f"{member.joined}  {member.name}" for member in sorted(members, key=lambda member: member.joined)]

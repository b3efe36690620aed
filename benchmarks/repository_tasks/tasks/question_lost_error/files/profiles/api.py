from profiles.cache import CachedFolder
from profiles.merge import with_defaults


def profile(folder, user):
    """The profile of a user, with defaults for what is missing."""
    return with_defaults(CachedFolder(folder).lookup(user))

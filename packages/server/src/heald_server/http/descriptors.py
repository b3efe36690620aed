"""The number of files and connections that this process may have open."""

_DESCRIPTORS = 1024


def raise_descriptor_limit() -> None:
    """Use as many descriptors as the system grants this process; shells start programs with fewer."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def descriptor_limit() -> int:
    try:
        import resource
    except ImportError:
        return _DESCRIPTORS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft > 0 else 1_000_000  # RLIM_INFINITY

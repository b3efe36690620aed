def feed(articles, limit=20):
    """The newest articles first."""
    return sorted(articles, reverse=True)[:limit]

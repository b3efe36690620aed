import helpers
from helpers import plural


def subject(articles):
    # initials(author) was here until the authors complained
    return f"{plural(len(articles), 'new article')} for you"


def body(articles):
    return helpers.bullet(helpers.chop(article["title"], 40) for article in articles)

from blog.paging import page, page_count


def article_list(articles, number, size=10):
    return {
        "articles": page(articles, number, size),
        "page": number,
        "pages": page_count(len(articles), size),
        "next": number + 1 if number < page_count(len(articles), size) else None,
    }

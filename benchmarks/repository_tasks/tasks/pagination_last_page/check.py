from referee import load

paging = load("blog.paging")
assert [paging.page_count(total, 10) for total in (0, 1, 9, 10, 11, 20, 25)] == [0, 1, 1, 1, 2, 2, 3]
articles = list(range(25))
view = load("blog.views").article_list(articles, 3)
assert view == {"articles": [20, 21, 22, 23, 24], "page": 3, "pages": 3, "next": None}, view
assert load("blog.views").article_list(articles, 2)["next"] == 3
assert paging.page([], 1) == []
for number in (0, 4):
    try:
        paging.page(articles, number)
    except IndexError:
        continue
    raise AssertionError(number)

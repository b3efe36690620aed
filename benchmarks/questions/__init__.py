"""Questions that a person is asked: the permissions `ask` beside `inside`, on 1,000 generated commands."""

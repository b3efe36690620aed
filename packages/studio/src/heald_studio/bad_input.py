"""The error for inputs that cannot be used."""

from heald.core.errors import HealdError


class BadInput(HealdError):
    """An input that cannot be used. `kind` is a word for programs:

    `not_an_image`, `image_too_large`, `image_damaged`, `too_large`, `bad_data_url`, `unreachable`, `no_decoder`,
    `not_a_video`, `bad_archive`, `not_found`, `not_text`, `too_many`.
    """

    code = "invalid_request"

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

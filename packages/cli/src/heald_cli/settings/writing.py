"""The settings of commands that let a model write once: `[review]`, `[commit]` and `[pr]`."""

from heald.config.work_tables import MODEL, EndpointTable


class ReviewTable(EndpointTable):
    """`heald review`."""

    model: str = MODEL


class CommitTable(EndpointTable):
    """`heald commit`."""

    model: str = MODEL


class PrTable(EndpointTable):
    """`heald pr`."""

    model: str = MODEL

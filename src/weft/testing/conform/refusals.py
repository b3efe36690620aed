"""Requests that must fail: the status has to say so, and the body has to have the API's shape."""

from weft.testing.conform.answer import Answer
from weft.testing.conform.verdict import Finding, ok, quoted, wrong


def judge_refusal(answer: Answer, statuses: tuple[int, ...]) -> Finding:
    if answer.broken is not None:
        return wrong(answer.broken)
    if answer.status == 200:
        return _sent_as_200(answer)
    faults: list[str] = []
    if answer.status not in statuses:
        faults.append(f"HTTP {answer.status}")
    if answer.content_type != "application/json":
        faults.append(f"an error as {answer.content_type or 'no content type'}")
    if not answer.api.error_is_right(answer.error_body):
        faults.append(f"the body {quoted(answer.body, 80)}, which is not {answer.api.error_shape}")
    if faults:
        return wrong(", ".join(faults))
    return ok(f"HTTP {answer.status}, {quoted(answer.said, 60)}")


def _sent_as_200(answer: Answer) -> Finding:
    told = answer.said if answer.error_body.get("error") else answer.reading.error
    if told:
        return wrong(f"an error sent as HTTP 200, {quoted(told, 60)}", "F08")
    return wrong("HTTP 200 and an answer, as if nothing were wrong")

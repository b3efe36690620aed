"""Whether a request asks for a change of files, for an answer, or for either."""

import pytest

from heald.agent.request_intent import read_intent

REQUESTS = {
    "answer": (
        "What does add in add.py do?",
        "Why does f fail? Only answer, change nothing.",
        "Explain fix() in a.py.",
        "How do I add a method to Basket?",
        "Is there a bug in a.py?",
        "Which functions does a.py have? List them.",
        "Summarise README.md.",
        "Can you explain what update does?",
        "Tell me about a.py without changing anything.",
        "Where is the error in a.py? Do not edit it.",
        "Please do not write any code, just tell me what it does",
        "Just tell me how you would fix a.py.",
        "Fix the sum? Only explain what a.py does.",
    ),
    "change": (
        "What is wrong in a.py? Fix it.",
        "Can you fix a.py?",
        "Could you please add a test for add?",
        "a.py should return 3.",
        "age_of in a.py fails for an unknown name. It should return None then.",
        "In style.css make the background of .button red. Change nothing else.",
        "Change nothing in a.py but the tax: set it to 7.",
        "Don't change the tests. Fix add in a.py.",
        "Fix a.py. b.py is fine, don't touch it.",
        "Refactor a.py without changing the public API.",
        "Why not rename x to y in a.py?",
        'The first exercise. Just say "Hello, World!".\n\nImplement this in a.py.',
    ),
    "either": ("Hello.", "Thanks!", "Write a haiku about rain.", "Look at a.py", "Do it.", "Zeig mir a.py", ""),
}


@pytest.mark.parametrize(("intent", "request_text"), [(key, text) for key, texts in REQUESTS.items() for text in texts])
def test_the_intent_of_a_request(intent: str, request_text: str) -> None:
    assert read_intent(request_text, {"a.py"}) == intent

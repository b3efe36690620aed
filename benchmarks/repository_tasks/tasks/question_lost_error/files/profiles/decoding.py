import json


def decode_document(data):
    """The mapping in a document; an empty document is an empty mapping."""
    try:
        return dict(json.loads(data))
    except ValueError:
        return {}

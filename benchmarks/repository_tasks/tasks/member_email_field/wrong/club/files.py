"""Saves members as JSON and loads them."""

import json

from club.member import Member


def dump(members):
    return json.dumps([{"name": member.name, "joined": member.joined, "email": member.email} for member in members])


def load(text):
    return [Member(item["name"], item["joined"], item["email"]) for item in json.loads(text)]

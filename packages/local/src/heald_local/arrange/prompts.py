"""Recognises the words that fields show while they are empty."""

import re

_ASKS = r"(?:search|find|enter|type|e-?mail|password|user ?name|keyword)\b"
_LOOKS = r"(?:what|who) are you looking for\b|(?:i'?m )?looking for\b.*(?:\?|…|\.\.\.)\s*$"
_FOREIGN = (
    r"(?:contraseña|senha|passwort|kennwort|mot de passe|correo electrónico|courriel|adresse e-?mail)\b|邮箱|邮件"
)
_YOURS = r"your\b(?:\W+\w+){1,4}\W*$"
_NAMES = r"(?:(?:first |last |full )?name|phone(?: number)?|zip(?: code)?|city|subject|message|comments?)\W*$"
_SEARCHES = r"(?:\w+ search|buscar|pesquisar|suchen?|rechercher|zoeken|поиск|搜索|検索)\W*$"
_MAILS = r".{0,40}\byour e-?mail\b"
_PLACES = r"(?:city|town|state|zip|post ?code|location|address)(?: ?[,/] ?| or ).*"
_DATES = r"(?:mm|dd|yyyy)(?:[/.-](?:mm|dd|yy(?:yy)?)){2}\W*$"
_PROMPT = re.compile(
    f"{_ASKS}|{_LOOKS}|{_FOREIGN}|{_YOURS}|{_NAMES}|{_SEARCHES}|{_MAILS}|{_PLACES}|{_DATES}", re.IGNORECASE
)


def is_prompt(words: str) -> bool:
    """Whether words ask for something to be typed."""
    return _PROMPT.match(words) is not None


def trails_off(words: str) -> bool:
    """Whether words end as placeholders do that give examples: Bakers, florists…"""
    return words.endswith(("…", "..."))

"""A stack of the studio: `heald build shot.png --stack plain`."""

from heald_studio import Stack

PLAIN = Stack(
    name="plain",
    label="Plain HTML",
    entry="index.html",
    rules="Write one HTML file without styles and scripts: headings, paragraphs, lists, tables and forms only.",
    scaffold={"index.html": "<!doctype html>\n<title>Page</title>\n"},
)

"""PDF and text files are attached to messages and to changes."""

from page_support import Visit
from playwright.async_api import FilePayload, expect

CSV: FilePayload = {"name": "sales.csv", "mimeType": "text/csv", "buffer": "month,sum\nMay,12 €\n".encode()}
LOG: FilePayload = {"name": "server.log", "mimeType": "", "buffer": b"12:00 started\n"}
PDF: FilePayload = {"name": "paper.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4\n%%EOF\n"}
PROGRAM: FilePayload = {"name": "program.bin", "mimeType": "", "buffer": b"\x7fELF\x00\x01\xff\xfe"}


async def test_a_chat_and_the_studio_read_pdf_and_text_files(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello")
    await visit.done()
    await page.locator(".composer input[type=file]").set_input_files([CSV, LOG, PDF, PROGRAM])
    attached = page.get_by_role("list", name="Attached").get_by_role("listitem")
    await expect(attached).to_have_text(["sales.csv", "server.log", "paper.pdf"])
    await expect(
        page.get_by_text("program.bin is neither a picture, a film, a page, a PDF nor a text.")
    ).to_be_visible()
    await visit.send_message("Read these.")
    await visit.done(2)
    badges = visit.log.locator(".user-bubble").last.locator(".badge")
    await expect(badges).to_have_text(["sales.csv", "server.log", "paper.pdf"])

    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Page").click()
    await page.locator("#begin input[type=file]").set_input_files([CSV])
    await expect(attached).to_have_text(["sales.csv"])
    await visit.build("build a page", variants=1, models=["quick"])
    await visit.built(1)
    await expect(page.locator(".project-talk .user-bubble .badge")).to_have_text("sales.csv")

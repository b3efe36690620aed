"""A change is made by the model that built the variant, or by the one that is chosen at the box; both are shown."""

import re
from typing import Any

from page_support import Visit
from playwright.async_api import Locator, Request, expect


def models_button(visit: Visit) -> Locator:
    return visit.page.locator(".project-change").get_by_role("button", name=re.compile("^Models"))


async def send_change(visit: Visit, text: str) -> dict[str, Any]:
    """Send a change, and return the version that the server made of it."""

    def is_change(request: Request) -> bool:
        return request.method == "POST" and request.url.endswith("/versions")

    async with visit.page.expect_request_finished(is_change) as sent:
        await visit.page.get_by_label("What to change").fill(text)
        await visit.page.keyboard.press("Enter")
    answer = await (await sent.value).response()
    assert answer is not None
    return await answer.json()


async def test_a_change_is_made_by_the_model_of_the_variant(visit: Visit) -> None:
    await visit.open_built("Build a page", variants=1, models=("calm",))
    await expect(models_button(visit)).to_have_text("Models: Calm")
    await expect(visit.page.get_by_test_id("change-price")).to_have_text("price unknown")
    assert await visit.axe() == []
    version = await send_change(visit, "headline please")
    assert [variant["model"] for variant in version["variants"]] == ["scripted/calm"]
    await expect(visit.log).to_contain_text("The headline is changed.")


async def test_another_model_is_chosen_at_the_box_and_remembered(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("Build a page", variants=1, models=("calm",))
    await models_button(visit).click()
    menu = page.get_by_role("dialog", name="Choose models")
    await expect(menu.get_by_role("menuitemradio", name="As this variant")).to_have_attribute("aria-checked", "true")
    await expect(menu).to_be_in_viewport(ratio=1)
    await menu.get_by_role("menuitemcheckbox", name="scripted/bright").click()
    assert await visit.axe() == []
    await page.keyboard.press("Escape")
    await page.reload()
    await expect(models_button(visit)).to_have_text("Models: Bright")
    version = await send_change(visit, "headline please")
    assert [variant["model"] for variant in version["variants"]] == ["scripted/bright"]
    await expect(visit.log).to_contain_text("The headline is changed.")


async def test_the_menu_of_models_is_on_the_screen_of_a_phone(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("Build a page", variants=1, models=("calm",))
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.get_by_role("tab", name="Chat").click()
    await models_button(visit).click()
    await expect(page.get_by_role("dialog", name="Choose models")).to_be_in_viewport(ratio=1)


async def test_the_model_of_an_assistant_is_remembered(visit: Visit) -> None:
    page = visit.page
    await visit.ask("markdown please", model="scripted/calm")
    await visit.done()
    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Assistant").click()
    await expect(page.get_by_label("Model")).to_have_value("scripted/calm")

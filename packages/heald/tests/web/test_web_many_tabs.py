"""Several tabs, and networks that come and go."""

from typing import Any

from page_support import Visit
from playwright.async_api import Page, Route, expect

IS_CLIPPED = """() => {
    const change = document.querySelector(".project-change").getBoundingClientRect();
    const covers = (element) => {
        for (let each = element; each !== null; each = each.parentElement) {
            const clips = each === element || getComputedStyle(each).overflowY !== "visible";
            if (clips && each.getBoundingClientRect().bottom <= change.top + 1) return false;
        }
        return true;
    };
    return [...document.querySelectorAll(".code-main, .cm-editor")].filter(covers).length === 0;
}"""
"""Whether nothing of the code reaches into the box for changes, where nothing clips it."""


async def second_tab(page: Page) -> Page:
    """The same project in another tab of the same browser."""
    tab = await page.context.new_page()
    await tab.goto(page.url)
    await expect(tab.get_by_role("group", name="Variants")).to_be_visible()
    return tab


async def test_a_project_that_is_deleted_in_one_tab_is_not_shown_in_another(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A bakery", 1, ["quick"])
    tab = await second_tab(page)
    name = page.url.rpartition("/")[2]
    await page.evaluate("location.hash = '#/settings'")
    await page.evaluate("name => fetch(`/projects/${name}`, {method: 'DELETE'})", name)
    await expect(tab.get_by_role("alert")).to_contain_text("This project was deleted.")
    await tab.get_by_role("alert").get_by_role("button", name="Start").click()
    await expect(tab.get_by_label("What to build")).to_be_visible()


async def test_a_network_that_goes_is_noticed_and_one_that_comes_back_too(first_visit: Visit) -> None:
    """The page does not wait for the silence of a connection that no longer is one."""
    page = first_visit.page
    first_visit.expected.append("ERR_INTERNET_DISCONNECTED")
    state = page.get_by_test_id("connection")
    await page.context.set_offline(True)
    await expect(state).to_contain_text("Connection lost")
    await expect(page.get_by_test_id("away")).to_be_visible()
    await page.context.set_offline(False)
    await expect(state).to_have_text("Connected")
    await expect(page.get_by_test_id("away")).to_be_hidden()


async def test_a_server_on_this_machine_is_there_without_a_network(first_visit: Visit) -> None:
    """That the browser is offline says nothing about a server that answers."""
    page = first_visit.page
    answered: list[str] = []
    session = await page.context.new_cdp_session(page)
    await session.send("Network.enable")  # pyright: ignore[reportUnknownMemberType]

    def keep(frame: dict[str, Any]) -> None:
        answered.append(frame["response"]["payloadData"])

    session.on("Network.webSocketFrameReceived", keep)
    await page.evaluate("window.dispatchEvent(new Event('offline'))")
    for _ in range(100):
        if any('"pong"' in received for received in answered):
            break
        await page.wait_for_timeout(100)
    assert any('"pong"' in received for received in answered)
    await page.wait_for_timeout(3_200)  # longer than the page waits for the answer
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")


async def test_the_code_of_a_low_window_stays_above_the_box_for_changes(first_visit: Visit) -> None:
    """As a window of 1280 by 800 is at a zoom of 200 %."""
    page = first_visit.page
    await first_visit.open_built("A bakery", 1, ["quick"])
    await page.set_viewport_size({"width": 640, "height": 400})
    await page.get_by_role("tab", name="Code").click()
    await expect(page.locator(".cm-editor")).to_be_visible()
    assert await page.evaluate(IS_CLIPPED)


async def test_a_slow_line_shows_that_the_page_is_loading(first_visit: Visit) -> None:
    tab = await first_visit.page.context.new_page()

    async def hold(_: Route) -> None:
        """The scripts never arrive."""

    await tab.route("**/assets/*.js", hold)
    await tab.goto(first_visit.address, wait_until="commit")
    await expect(tab.get_by_text("Heald is loading…")).to_be_visible()
    await tab.close()

// @vitest-environment jsdom
import { expect, test } from "vitest";
import { showToast, Toasts } from "../src/parts/toasts";
import { click, mount } from "./mounted";

test("a toast that comes before the page is shown when the page is there", async () => {
  showToast("The address is not valid.", "error");
  const { box } = await mount(<Toasts />);
  expect([...box.querySelectorAll(".toast")].map((toast) => toast.textContent)).toEqual(["The address is not valid."]);
  await click(box.querySelector('[aria-label="Dismiss"]'));
  expect(box.querySelector(".toast")).toBeNull();
});

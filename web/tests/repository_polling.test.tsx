// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { usePolling } from "../src/repository/polling";
import { mount } from "./mounted";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function Poller({ value, onReload }: { value: object; onReload(): void }) {
  usePolling({ value, error: null, reload: onReload }, 700);
  return null;
}

test("a server that answers late is not asked again before it has answered", async () => {
  const onReload = vi.fn();
  const { render } = await mount(<Poller value={{}} onReload={onReload} />);
  await act(() => vi.advanceTimersByTimeAsync(699));
  expect(onReload).toHaveBeenCalledTimes(0);
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(onReload).toHaveBeenCalledTimes(1);
  await render(<Poller value={{}} onReload={onReload} />); // the answer
  await act(() => vi.advanceTimersByTimeAsync(700));
  expect(onReload).toHaveBeenCalledTimes(2);
});

test("a page that is not seen asks for nothing", async () => {
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  const onReload = vi.fn();
  await mount(<Poller value={{}} onReload={onReload} />);
  await act(() => vi.advanceTimersByTimeAsync(7000));
  expect(onReload).toHaveBeenCalledTimes(0);
  hidden.mockRestore();
  await act(() => vi.advanceTimersByTimeAsync(700));
  expect(onReload).toHaveBeenCalledTimes(1);
});

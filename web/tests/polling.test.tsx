// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { usePolling } from "../src/shell/polling";
import { mount } from "./mounted";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function Poller({ isFetching = false, onReload }: { isFetching?: boolean; onReload(): void }) {
  usePolling({ isFetching, reload: onReload }, 700);
  return null;
}

test("a server that answers late is not asked again before it has answered", async () => {
  const onReload = vi.fn();
  const { render } = await mount(<Poller onReload={onReload} />);
  await act(() => vi.advanceTimersByTimeAsync(699));
  expect(onReload).toHaveBeenCalledTimes(0);
  await act(() => vi.advanceTimersByTimeAsync(1));
  await render(<Poller isFetching onReload={onReload} />);
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(onReload).toHaveBeenCalledTimes(1);
  await render(<Poller onReload={onReload} />); // the answer, which may be the same as the last one
  await act(() => vi.advanceTimersByTimeAsync(700));
  expect(onReload).toHaveBeenCalledTimes(2);
});

test("a page that is not seen asks for nothing", async () => {
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  const onReload = vi.fn();
  await mount(<Poller onReload={onReload} />);
  await act(() => vi.advanceTimersByTimeAsync(7000));
  expect(onReload).toHaveBeenCalledTimes(0);
  hidden.mockRestore();
  await act(() => vi.advanceTimersByTimeAsync(700));
  expect(onReload).toHaveBeenCalledTimes(1);
});

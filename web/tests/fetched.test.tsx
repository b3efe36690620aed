// @vitest-environment jsdom
import { ApiError } from "@heald/client";
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { FetchCache, type Fetched, useFetched } from "../src/shell/fetched";
import { type Deferred, deferred, mount, SilentSocket } from "./mounted";

let answers: Deferred<string>[] = [];
let last: Fetched<string>;

beforeEach(() => {
  answers = [];
  SilentSocket.use();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function Value({ name, isVolatile = false, isFixed = false }: { name: string | null; isVolatile?: boolean; isFixed?: boolean }) {
  last = useFetched(
    name,
    () => {
      const answer = deferred<string>();
      answers.push(answer);
      return answer.promise;
    },
    { isVolatile, isFixed },
  );
  return <p>{last.error?.message ?? last.value ?? (last.loading ? "loading" : "nothing")}</p>;
}

async function rendered(element: React.ReactNode) {
  const live = openStore();
  const { box, render } = await mount(<LiveContext value={live}>{element}</LiveContext>);
  const texts = () => [...box.querySelectorAll("p")].map((part) => part.textContent).join(" ");
  return { texts, show: (next: React.ReactNode) => render(<LiveContext value={live}>{next}</LiveContext>) };
}

test("components with one key share a request and its value", async () => {
  const { texts, show } = await rendered([<Value key="1" name="a" />, <Value key="2" name="a" />]);
  expect(answers).toHaveLength(1);
  await answers[0]?.resolve("A");
  expect(texts()).toBe("A A");
  await act(async () => last.set("B"));
  expect(texts()).toBe("B B");
  await show(<Value name={null} />);
  expect(texts()).toBe("nothing");
  expect(answers).toHaveLength(1);
});

test("a value that was there is shown at once and fetched again, unless it is volatile", async () => {
  const { texts, show } = await rendered(<Value name="a" />);
  await answers[0]?.resolve("A");
  await show(null);
  await show(<Value name="a" />);
  expect(texts()).toBe("A");
  await act(() => vi.advanceTimersByTimeAsync(100));
  await answers[1]?.resolve("new");
  expect(texts()).toBe("new");
  await show(null);
  await show(<Value isVolatile name="b" />);
  await answers[2]?.resolve("B");
  await show(null);
  await show(<Value isVolatile name="b" />);
  expect(texts()).toBe("loading");
});

test("a value that never changes is fetched once", async () => {
  const { texts, show } = await rendered(<Value isFixed name="a" />);
  await answers[0]?.resolve("A");
  await show(null);
  await show(<Value isFixed name="a" />);
  await act(() => vi.advanceTimersByTimeAsync(100));
  expect([texts(), answers.length]).toEqual(["A", 1]);
});

test("a value stays while the server cannot be reached, is asked for when it can be, and goes when it is refused", async () => {
  const { texts, show } = await rendered(<Value name="a" />);
  await answers[0]?.resolve("A");
  await act(async () => last.reload());
  await answers[1]?.reject(new ApiError(0, "unreachable", "away"));
  expect([last.value, texts()]).toEqual(["A", "away"]);
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  expect(answers).toHaveLength(2);
  await SilentSocket.sockets[0]?.open();
  await act(() => vi.advanceTimersByTimeAsync(2_000));
  expect(answers).toHaveLength(3);
  await answers[2]?.reject(new ApiError(404, "not_found", "gone"));
  expect([last.value, texts()]).toEqual([null, "gone"]);
  await show(null);
});

test("a change before the first answer does not keep the answer away", async () => {
  const { texts } = await rendered(<Value name="a" />);
  await act(async () => last.change((value) => `${value}!`));
  await answers[0]?.resolve("A");
  expect(texts()).toBe("A");
  await act(async () => last.change((value) => `${value}!`));
  expect(texts()).toBe("A!");
});

test("the values that were not used for the longest time are forgotten", () => {
  const cache = new FetchCache();
  for (let at = 0; at < 300; at += 1) cache.set(`k${at}`, { data: at });
  cache.get("k0");
  cache.set("new", { data: 1 });
  expect([cache.get("k0")?.data, cache.get("k1"), [...cache.keys()].length]).toEqual([0, undefined, 300]);
});

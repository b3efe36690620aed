// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Attachment } from "../src/chat/attachments";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { buildPlanOf } from "../src/studio/build_plan";
import { NO_HINT } from "../src/studio/picture_hint";
import { Start } from "../src/studio/start";
import type { StudioView } from "../src/wire/api";
import { type Deferred, deferred, mount, press, SilentSocket, write } from "./mounted";

const WORDS = { name: "cloud/words", stacks: undefined, text: true };
const CONVERTER = { name: "local/converter", stacks: ["html_css"], text: false };
const OFFER = {
  models: [WORDS, CONVERTER],
  stacks: [
    { name: "html_css", label: "HTML" },
    { name: "react", label: "React" },
  ],
  defaults: { stack: "react", models: [WORDS.name, CONVERTER.name], variants_create: 3 },
  examples: [],
  gallery: [],
  has_keys: true,
  figma: "",
} as unknown as StudioView;

const choices = { text: "", attachments: [], stack: "", models: [], variants: 0, eachPage: false, draft: false, hint: NO_HINT };
const picture: Attachment = { id: "a", kind: "image", name: "a.png", data: "data:image/png;base64,AAAA" };

test("words are built by the language models and pictures by the converter, with a stack that they know", () => {
  expect(buildPlanOf(OFFER, { ...choices, text: "A page" })).toMatchObject({ usualModels: [WORDS.name], stack: "react", variants: 3, refused: false });
  expect(buildPlanOf(OFFER, { ...choices, attachments: [picture], stack: "react" })).toMatchObject({ usualModels: [CONVERTER.name], stack: "html_css" });
});

test("what cannot be built is refused: words without a model for them, and Figma without a token", () => {
  const converterOnly = { ...OFFER, models: [CONVERTER], defaults: { ...OFFER.defaults, models: [CONVERTER.name] } } as unknown as StudioView;
  expect(buildPlanOf(converterOnly, { ...choices, text: "A page" })).toMatchObject({ noWords: true, refused: true });
  const link = { ...choices, text: "https://www.figma.com/design/abc/Name?node-id=1-2" };
  expect(buildPlanOf(OFFER, link)).toMatchObject({ noToken: true, refused: true });
  expect(buildPlanOf(null, { ...choices, text: "A page" })).toMatchObject({ refused: false, stack: "" });
});

let offers: Deferred<Response>[] = [];
const created: Record<string, unknown>[] = [];

beforeEach(() => {
  offers = [];
  created.length = 0;
  localStorage.clear();
  sessionStorage.clear();
  SilentSocket.use();
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal("fetch", (address: unknown, init?: RequestInit) => {
    const path = new URL(String(address), "http://localhost").pathname;
    if (path.endsWith("/studio")) {
      const offer = deferred<Response>();
      offers.push(offer);
      return offer.promise;
    }
    if (init?.method === "POST") created.push(JSON.parse(String(init.body)) as Record<string, unknown>);
    if (path.endsWith("/models")) return Promise.resolve(Response.json({ details: [], default: "", session: {} }));
    return Promise.resolve(Response.json(path.endsWith("/design-systems") ? [] : { id: "p1" }));
  });
});

afterEach(() => vi.unstubAllGlobals());

test("Enter before the offer is there builds the page once, when it is there", async () => {
  const { box } = await mount(
    <LiveContext value={openStore()}>
      <Start />
    </LiveContext>,
  );
  const area = box.querySelector("textarea");
  await write(area, "A page");
  await press(area, "Enter");
  await press(area, "Enter");
  expect(created).toHaveLength(0);
  for (const offer of offers) await offer.resolve(Response.json(OFFER));
  expect(created).toMatchObject([{ prompt: { text: "A page" }, stack: "react", variants: 3 }]);
  expect(area?.value).toBe("");
});

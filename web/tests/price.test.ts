import { expect, test } from "vitest";
import { inheritedModels } from "../src/studio/inherited_models";
import { priceOf } from "../src/studio/price";
import type { ModelView, StudioView, VersionView } from "../src/wire/api";

const model = (name: string, input: number | null, output: number | null, text = true) => ({ name, text, input_usd_per_million: input, output_usd_per_million: output }) as ModelView;
const MODELS = [model("a/small", 1, 5), model("a/dear", 8, 40), model("local/vision", 0, 0, false), model("x/unknown", null, null)];

test("the price of a change is that of all its variants", () => {
  const usage = { input: 20_000, output: 4_000 };
  expect(priceOf(MODELS, ["a/small"], usage)[0]).toBe("about $0.04");
  expect(priceOf(MODELS, ["a/dear", "a/dear"], usage)[0]).toBe("about $0.64");
  expect(priceOf(MODELS, ["a/small"], {})[0]).toBe("$1.00 / $5.00");
  expect(priceOf(MODELS, ["local/vision"], usage)[0]).toBe("free");
  expect(priceOf(MODELS, ["x/unknown"], usage)[0]).toBe("price unknown");
});

const version = (id: string, models: string[], base: VersionView["base"] = null) => ({ id, base, variants: models.map((name, index) => ({ index, model: name })) }) as VersionView;
const offer = (...models: string[]) => ({ models: MODELS, defaults: { models, variants_update: 2 } }) as unknown as StudioView;

test("a change inherits the model through what a person edited", () => {
  const versions = [version("v1", ["a/dear", "a/small"]), version("v2", [""], { version: "v1", variant: 1 })];
  expect(inheritedModels(versions, { version: "v1", variant: 0 }, offer("a/dear"))).toEqual({ models: ["a/dear"], variants: 2 });
  expect(inheritedModels(versions, { version: "v2", variant: 0 }, offer("a/dear"))).toEqual({ models: ["a/small"], variants: 2 });
  expect(inheritedModels([version("v1", ["a/small"])], { version: "v1", variant: 0 }, offer("a/dear"))).toEqual({ models: ["a/small"], variants: 1 });
  expect(inheritedModels([version("v1", ["local/vision"])], { version: "v1", variant: 0 }, offer("a/dear")).models).toEqual(["a/dear"]);
  expect(inheritedModels([version("v1", ["local/vision"])], { version: "v1", variant: 0 }, offer("local/vision")).models).toEqual(["local/vision"]);
});

import { expect, test } from "vitest";
import { addressIn } from "../src/repository/preview_address";
import { MOST_REPORTS, readWord, type Report, withReport } from "../src/repository/preview_report";

test("what a preview says is read as data", () => {
  expect(readWord({ heald: "report", kind: "network", level: "error", text: "404 /x" })).toEqual({
    word: "report",
    report: { kind: "network", level: "error", text: "404 /x" },
  });
  expect(readWord({ heald: "report", kind: {}, level: "<b>", text: 3 })).toEqual({ word: "report", report: { kind: "console", level: "log", text: "" } });
  expect(readWord({ heald: "page", path: "x".repeat(9000) })).toEqual({ word: "page", path: "x".repeat(4000) });
});

test("anything else is not a message of a preview", () => {
  for (const data of [null, "report", 7, {}, { heald: "select" }, { heald: 1 }]) expect(readWord(data)).toBeNull();
});

test("many requests leave the console whole", () => {
  let reports: readonly Report[] = [{ kind: "console", level: "error", text: "it broke" }];
  for (let at = 0; at <= MOST_REPORTS; at++) reports = withReport(reports, { kind: "network", level: "info", text: `200 /${at}` });
  expect(reports).toHaveLength(MOST_REPORTS + 1);
  expect(reports.slice(0, 2).map((report) => report.text)).toEqual(["it broke", "200 /1"]);
});

test("an address outside of the preview is not one of its pages", () => {
  const preview = "http://name.localhost:4000/app/";
  expect(addressIn(preview, "/about?x=1#y")).toBe("http://name.localhost:4000/about?x=1#y");
  expect(addressIn(preview, "about")).toBe("http://name.localhost:4000/app/about");
  for (const path of ["//example.org/", "https://example.org/", "javascript:alert(1)", "http://name.localhost:4001/", "http://["]) expect(addressIn(preview, path)).toBeNull();
});

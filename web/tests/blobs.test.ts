import { describe, expect, it } from "vitest";

import { hasBlobs, restoreBlobs } from "@heald/client";

const event = () => ({
  seq: 3,
  session: "ses_1",
  type: "user_message",
  data: { message: { content: [{ type: "text", text: "Look." }, { type: "image", data: "" }] } },
  blobs: [{ path: ["data", "message", "content", 1, "data"], blob: "ab12", is_json: false }],
});

describe("large contents", () => {
  it("are put into their places", async () => {
    const frame = { type: "events", events: [{ seq: 2, session: "ses_1", type: "x", data: {} }, event()] };
    const asked: string[] = [];
    expect(hasBlobs(frame)).toBe(true);
    await restoreBlobs(frame, async (session, blob) => {
      asked.push(`${session} ${blob}`);
      return "UElD";
    });
    expect(asked).toEqual(["ses_1 ab12"]);
    expect((frame.events[1] as ReturnType<typeof event>).data.message.content[1]?.data).toBe("UElD");
  });

  it("may be JSON, and the whole of a snapshot", async () => {
    const reset = { type: "reset", session: "ses_1", snapshot: null, blobs: [{ path: ["snapshot"], blob: "cd", is_json: true }] };
    await restoreBlobs(reset, async () => '{"title":"Talk"}');
    expect(reset.snapshot).toEqual({ title: "Talk" });
  });

  it("are rare", () => {
    expect(hasBlobs({ seq: 1, session: "s", type: "text_delta", data: { text: "hi", blobs: [] } })).toBe(false);
    expect(hasBlobs({ type: "subscribed" })).toBe(false);
  });
});

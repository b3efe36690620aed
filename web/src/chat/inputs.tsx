/** The arguments of a call: long texts as texts, everything else as JSON. */

import type { Json, JsonObject } from "../log/content";
import { plain } from "../parts/format";

export function Inputs({ input, json }: { input: JsonObject | null; json: string }) {
  if (input === null) {
    return (
      <pre className="code-box" tabIndex={0}>
        {plain(json) || "…"}
      </pre>
    );
  }
  const pairs = Object.entries(input);
  if (pairs.length === 0) return <p className="faint">No arguments.</p>;
  return (
    <dl className="inputs">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{plain(name)}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: Json }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (text.length < 80 && !text.includes("\n")) return <code>{plain(text)}</code>;
  return (
    <pre className="code-box" tabIndex={0}>
      {plain(text)}
    </pre>
  );
}

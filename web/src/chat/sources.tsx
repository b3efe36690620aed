/** What a provider looked up by itself: its own tools, and the sources that an answer cites. */

import type { ServerToolItem, Source } from "@heald/client";
import { memo } from "react";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { sources as texts } from "../texts/chat";

/** A tool that ran at the provider. */
export const ServerTool = memo(function ServerTool({ item }: { item: ServerToolItem }) {
  const asked = Object.values(item.input).filter((value) => typeof value === "string");
  const state = !item.done ? texts.running : item.failed ? texts.failed : texts.done;
  return (
    <div className="server-tool" role="group" aria-label={texts.providersTool(item.name)}>
      <div className="row">
        <Icon name="search" size={14} />
        <strong>{plain(item.name.replaceAll("_", " "))}</strong>
        <span className="grow truncate">{plain(asked.join(" · ").slice(0, 300))}</span>
        <span className={`badge ${item.failed ? "bad" : ""}`}>{state}</span>
      </div>
      {item.failed && item.text !== "" && <p className="faint">{plain(item.text.slice(0, 500))}</p>}
      <Sources sources={item.sources} label={texts.found} />
    </div>
  );
});

/** Links to sources. Only addresses of the web are links. */
export function Sources({ sources, label }: { sources: readonly Source[]; label: string }) {
  if (sources.length === 0) return null;
  return (
    <ol className="sources" aria-label={label}>
      {sources.map((source, at) => (
        <li key={at} title={source.quote ?? undefined}>
          {isWeb(source.url) ? (
            <a href={source.url} target="_blank" rel="noopener noreferrer">
              {plain(source.title || source.url)}
            </a>
          ) : (
            plain(source.title)
          )}
        </li>
      ))}
    </ol>
  );
}

function isWeb(url: string | null | undefined): url is string {
  return /^https?:\/\//i.test(url ?? "");
}

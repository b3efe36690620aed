/** A picture of a message. Only what the session itself holds is shown; what lies elsewhere is a link. */

import type { ImageBlock } from "@heald/client";
import { use, createContext } from "react";
import { picture as texts } from "../texts/parts";
import { sessions } from "../wire/api";

export const SessionContext = createContext<string>("");

const SHOWN = /^image\/(png|jpeg|gif|webp|avif)$/;

export function Picture({ block, label }: { block: ImageBlock; label: string }) {
  const session = use(SessionContext);
  const type = block.media_type ?? "image/png";
  if (block.data && SHOWN.test(type)) {
    return <img className="picture" src={`data:${type};base64,${block.data}`} alt={label} />;
  }
  if (block.blob !== undefined) return <img className="picture" src={sessions.blob(session, block.blob)} alt={label} />;
  if (block.url && /^https?:/i.test(block.url)) {
    return (
      <a href={block.url} target="_blank" rel="noopener noreferrer">
        {label}
      </a>
    );
  }
  return <span className="badge">{texts.cannotBeShown(label)}</span>;
}

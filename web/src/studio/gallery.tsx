/** Finished projects on the start page. Opening one makes a project of one's own; no model is called. */

import { useState } from "react";
import { showFailure } from "../parts/toasts";
import { useAway } from "../shell/away";
import { go } from "../shell/route";
import { gallery as texts } from "../texts/start";
import type { StudioView } from "../wire/api";
import { openFinished } from "./calls";
import "../style/gallery.css";

export function Gallery({ items }: { items: StudioView["gallery"] }) {
  const [opening, setOpening] = useState("");
  const away = useAway();
  if (items.length === 0) return null;
  const open = (name: string) => {
    setOpening(name);
    openFinished(name).then(
      (project) => go("project", project.id),
      (error: unknown) => {
        setOpening("");
        showFailure(error);
      },
    );
  };
  return (
    <section className="start-section gallery" id="gallery" aria-labelledby="gallery-title">
      <h2 id="gallery-title">{texts.finishedProjects}</h2>
      <ul className="gallery-grid">
        {items.map((item) => (
          <li key={item.name}>
            <button type="button" className="gallery-item" aria-busy={opening === item.name} disabled={opening !== "" || away} onClick={() => open(item.name)}>
              <img src={item.thumbnail} width={480} height={300} alt="" loading="lazy" />
              <span className="gallery-title">
                {item.title}
                {opening === item.name && <span className="spinner" aria-hidden="true" />}
              </span>
              <span className="faint">{item.description}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

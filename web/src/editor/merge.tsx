/** Two versions of a file in one: what went is shown above what came. */

import "../style/code.css";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { merge as texts } from "../texts/files";
import { base } from "./setup";

export function Merge({ path, before, after }: { path: string; before: string; after: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current === null) return undefined;
    const view = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          base(path),
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ tabindex: "0", "aria-label": texts.differencesIn(path) }),
        ],
      }),
    });
    return () => view.destroy();
  }, [path, before, after]);
  if (before === after) return <div className="empty">{texts.thereIsNoDifference}</div>;
  return <div className="editor" ref={box} />;
}

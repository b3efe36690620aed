/** A file that can be written in. */

import "../style/code.css";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { useEffect, useEffectEvent, useRef } from "react";
import { editor as texts } from "../texts/files";
import { base } from "./setup";

interface Props {
  path: string;
  text: string;
  readOnly: boolean;
  onChange(text: string): void;
  onSave(): void;
}

export function Editor({ path, text, readOnly, onChange, onSave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useEffectEvent(onChange);
  const save = useEffectEvent(() => {
    onSave();
    return true;
  });

  const firstText = useEffectEvent(() => text); // later texts are put in below; the editor itself is made once a file

  useEffect(() => {
    if (box.current === null) return undefined;
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: firstText(),
        extensions: [
          keymap.of([{ key: "Mod-s", run: () => save() }]),
          base(path),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ tabindex: "0", "aria-label": texts.contentOf(path) }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((transaction) => transaction.isUserEvent("sync"))) {
              change(update.state.doc.toString());
            }
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [path, readOnly]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const now = editor.state.doc.toString();
    if (now === text) return;
    const grown = text.startsWith(now);
    const changes = grown ? { from: now.length, insert: text.slice(now.length) } : { from: 0, to: now.length, insert: text };
    editor.dispatch({ changes, userEvent: "sync" });
    if (grown && readOnly) editor.dispatch({ effects: EditorView.scrollIntoView(editor.state.doc.length) });
  }, [text, readOnly]);

  return <div className="editor" ref={box} />;
}

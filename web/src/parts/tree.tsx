/** Files as a tree of folders. */

import { useMemo, useState } from "react";
import { Icon } from "./icon";

interface Props {
  paths: readonly string[];
  chosen: string | null;
  onChoose(path: string): void;
  label: string;
  /** A word behind a file's name. */
  note?(path: string): string;
}

interface Folder {
  folders: Map<string, Folder>;
  files: { name: string; path: string }[];
}

export function Tree({ paths, chosen, onChoose, label, note }: Props) {
  const root = useMemo(() => grown(paths), [paths]);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string | null>(null);
  const rows = useMemo(() => rowsOf(root, "", 0, closed), [root, closed]);
  // The tree is one tab stop: the row that had the focus last, else the chosen file, else the first row.
  const isRow = (key: string | null) => key !== null && rows.some((row) => row.key === key);
  const stop = [focused, chosen].find(isRow) ?? rows[0]?.key ?? null;
  const fold = (key: string, open: boolean) => {
    const next = new Set(closed);
    if (open) next.delete(key);
    else next.add(key);
    setClosed(next);
  };
  const press = (event: React.KeyboardEvent<HTMLElement>) => {
    const at = rows.findIndex((row) => row.key === stop);
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = targetOf(event.key, rows, at);
    if (target === null) return;
    event.preventDefault();
    if (target === "open" || target === "close") fold(row.key, target === "open");
    else event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')[target]?.focus();
  };
  return (
    <div className="tree" role="tree" aria-label={label} onKeyDown={press}>
      {rows.map((row) => (
        <button
          key={row.key}
          type="button"
          role="treeitem"
          tabIndex={row.key === stop ? 0 : -1}
          aria-level={row.depth + 1}
          {...(row.open === null ? { "aria-selected": row.key === chosen } : { "aria-expanded": row.open })}
          style={{ paddingLeft: 8 + row.depth * 14 }}
          onFocus={() => setFocused(row.key)}
          onClick={() => (row.open === null ? onChoose(row.key) : fold(row.key, !row.open))}
        >
          <Icon name={row.open === null ? "file" : row.open ? "down" : "right"} size={14} />
          <span className={row.open === null ? "grow truncate" : "truncate"}>{row.name}</span>
          {row.open === null && note && <span className="faint mono">{note(row.key)}</span>}
        </button>
      ))}
    </div>
  );
}

interface Row {
  /** The path of a file; that of a folder ends with a slash. */
  key: string;
  name: string;
  depth: number;
  /** Whether a folder is open; null for a file. */
  open: boolean | null;
}

/** The rows that are visible, from top to bottom. */
function rowsOf(folder: Folder, prefix: string, depth: number, closed: ReadonlySet<string>): Row[] {
  const folders = [...folder.folders].flatMap(([name, inner]) => {
    const key = `${prefix}${name}/`;
    const open = !closed.has(key);
    return [{ key, name, depth, open }, ...(open ? rowsOf(inner, key, depth + 1, closed) : [])];
  });
  return [...folders, ...folder.files.map(({ name, path }) => ({ key: path, name, depth, open: null }))];
}

/** What a key does at a row: the row that it leads to, or opening or closing a folder; null for nothing. */
function targetOf(key: string, rows: readonly Row[], at: number): number | "open" | "close" | null {
  const row = rows[at];
  if (row === undefined) return null;
  switch (key) {
    case "ArrowDown":
      return Math.min(rows.length - 1, at + 1);
    case "ArrowUp":
      return Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return rows.length - 1;
    case "ArrowRight":
      if (row.open === null) return null;
      return row.open ? Math.min(rows.length - 1, at + 1) : "open";
    case "ArrowLeft": {
      if (row.open === true) return "close";
      const parent = rows.slice(0, at).findLastIndex((candidate) => candidate.depth < row.depth);
      return parent < 0 ? null : parent;
    }
    default:
      return null;
  }
}

function grown(paths: readonly string[]): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of [...paths].sort()) {
    const names = path.split("/");
    const name = names.pop() ?? path;
    let folder = root;
    for (const name of names) {
      const inner: Folder = folder.folders.get(name) ?? { folders: new Map(), files: [] };
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.push({ name, path });
  }
  return root;
}

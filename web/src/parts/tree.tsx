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
  return (
    <div className="tree" role="tree" aria-label={label} onKeyDown={moveFocus}>
      <Branch folder={root} depth={0} chosen={chosen} onChoose={onChoose} {...(note ? { note } : {})} />
    </div>
  );
}

function Branch({ folder, depth, chosen, onChoose, note }: Omit<Props, "paths" | "label"> & { folder: Folder; depth: number }) {
  const indent = { paddingLeft: 8 + depth * 14 };
  const rest = { chosen, onChoose, ...(note ? { note } : {}) };
  return (
    <>
      {[...folder.folders].map(([name, inner]) => (
        <Fold key={name} name={name} depth={depth}>
          <Branch folder={inner} depth={depth + 1} {...rest} />
        </Fold>
      ))}
      {folder.files.map(({ name, path }) => (
        <button
          key={path}
          type="button"
          role="treeitem"
          aria-level={depth + 1}
          aria-selected={path === chosen}
          style={indent}
          onClick={() => onChoose(path)}
        >
          <Icon name="file" size={14} />
          <span className="grow truncate">{name}</span>
          {note && <span className="faint mono">{note(path)}</span>}
        </button>
      ))}
    </>
  );
}

function Fold({ name, depth, children }: { name: string; depth: number; children: React.ReactNode }) {
  const [open, setOpen] = useState(true);
  return (
    <>
      <button
        type="button"
        role="treeitem"
        aria-level={depth + 1}
        aria-expanded={open}
        style={{ paddingLeft: 8 + depth * 14 }}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "down" : "right"} size={14} />
        <span className="truncate">{name}</span>
      </button>
      {open && children}
    </>
  );
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

function moveFocus(event: React.KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[Math.min(items.length - 1, Math.max(0, at + (event.key === "ArrowDown" ? 1 : -1)))]?.focus();
}

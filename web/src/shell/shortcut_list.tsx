import { SHORTCUT_GROUPS } from "./shortcuts";
import "../style/shortcuts.css";

/** The keys of the page, in groups. */
export function ShortcutList() {
  return (
    <div className="shortcuts">
      {SHORTCUT_GROUPS.map(({ title, shortcuts }) => (
        <section key={title}>
          <h3>{title}</h3>
          <ul>
            {shortcuts.map(({ keys, action }) => (
              <li key={keys}>
                <span>{action}</span>
                <kbd>{keys}</kbd>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

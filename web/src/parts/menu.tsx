/** A button with a menu under it. Escape closes it, and so does going elsewhere, by a click or by Tab. */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { IconButton } from "./button";
import { Icon, type IconName } from "./icon";

export interface Action {
  label: string;
  icon?: IconName;
  danger?: boolean;
  run(): void;
}

export function Menu({ label, actions, icon = "more" }: { label: string; actions: readonly Action[]; icon?: IconName }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      open={open}
      onClose={() => setOpen(false)}
      button={<IconButton small icon={icon} label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)} />}
    >
      <div className="menu" role="menu" aria-label={label} style={{ right: 0, top: "100%" }} onKeyDown={moveFocus}>
        {actions.map((action, at) => (
          <button
            key={action.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            autoFocus={at === 0}
            className={action.danger ? "danger" : ""}
            onClick={(event) => {
              anchorOf(event.currentTarget)?.focus(); // a dialog that the action opens returns the focus to it
              setOpen(false);
              action.run();
            }}
          >
            {action.icon && <Icon name={action.icon} size={14} />}
            {action.label}
          </button>
        ))}
      </div>
    </Popover>
  );
}

export function moveFocus(event: React.KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items.at((at + (event.key === "ArrowDown" ? 1 : -1)) % items.length)?.focus();
}

/** The button that opens the popover around an element. */
function anchorOf(element: Element | null): HTMLElement | null {
  return element?.closest(".menu-anchor")?.querySelector("button") ?? null;
}

interface PopoverProps {
  open: boolean;
  onClose(): void;
  button: ReactNode;
  children: ReactNode;
}

function isOutside({ currentTarget, relatedTarget }: React.FocusEvent): boolean {
  return relatedTarget !== null && !currentTarget.contains(relatedTarget);
}

export function Popover({ open, onClose, button, children }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) onClose();
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      onClose();
      anchorOf(box.current)?.focus();
    };
    // Clicks in a preview are not seen here, but it gets the focus.
    const blurred = () => document.activeElement instanceof HTMLIFrameElement && onClose();
    document.addEventListener("pointerdown", outside);
    document.addEventListener("keydown", key, true);
    window.addEventListener("blur", blurred);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("keydown", key, true);
      window.removeEventListener("blur", blurred);
    };
  }, [open, onClose]);
  return (
    <div className="menu-anchor" ref={box} onBlur={(event) => open && isOutside(event) && onClose()}>
      {button}
      {open && children}
    </div>
  );
}

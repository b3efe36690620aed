/** A button with a menu under it. Escape and a click elsewhere close it. */

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
            autoFocus={at === 0}
            className={action.danger ? "danger" : ""}
            onClick={() => {
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

interface PopoverProps {
  open: boolean;
  onClose(): void;
  button: ReactNode;
  children: ReactNode;
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
      box.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("keydown", key, true);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("keydown", key, true);
    };
  }, [open, onClose]);
  return (
    <div className="menu-anchor" ref={box}>
      {button}
      {open && children}
    </div>
  );
}

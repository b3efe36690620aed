import { type ReactNode, type RefObject, useLayoutEffect, useRef } from "react";
import { dialog as texts } from "../texts/parts";
import { Button } from "./button";

interface Props {
  title: string;
  onClose(): void;
  children: ReactNode;
}

/** Open a dialog above the page. It is closed while it is still in the page, which returns the focus to where it was. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return box;
}

export function Dialog({ title, onClose, children }: Props) {
  const box = useModal();
  return (
    <dialog ref={box} className="dialog" aria-label={title} onCancel={onClose} onClose={onClose}>
      <div className="stack" style={{ gap: 16 }}>
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  onConfirm(): void;
  onClose(): void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="muted">{text}</p>
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button
          look="danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

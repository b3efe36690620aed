/** A box to write in that takes pasted, dropped and picked files as well. */

import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { Button, IconButton } from "../parts/button";
import type { Change } from "../parts/kept";
import { showToast } from "../parts/toasts";
import { isTyping } from "../parts/typing";
import { box as texts } from "../texts/chat";
import { type Attachment, pageNameOf, readFiles, type Role } from "./attachments";

interface Props {
  label: string;
  placeholder: string;
  text: string;
  onText(text: string): void;
  attachments: Attachment[];
  onAttachments(change: Change<Attachment[]>): void;
  onSubmit(): void;
  disabled?: boolean;
  accept?: string;
  tall?: boolean;
  autoFocus?: boolean;
  /** Whether a pasted text is a file rather than words, and what it is called. */
  asFile?(text: string): string | null;
  /** Whether several pictures have roles. */
  roles?: boolean;
  /** Whether each of several pictures becomes a page, which has a name. */
  pages?: boolean;
  /** What stands under the text, beside the button for files. */
  children?: ReactNode;
  submit: ReactNode;
}

export function Box(props: Props) {
  const { label, placeholder, text, onText, attachments, onAttachments, onSubmit, submit, children } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [checking, setChecking] = useState(0); // files are being read: nothing is sent without them
  const pictures = attachments.filter((attachment) => attachment.kind === "image").length;

  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 280)}px`;
  }, [text]);

  const reading = useRef<Promise<void>>(Promise.resolve()); // files are added in the order in which they were chosen
  const addFiles = async (files: File[]) => {
    setChecking((now) => now + 1);
    const pendingFiles = readFiles(files, props.roles === true);
    const add = async () => {
      const { read, refused } = await pendingFiles.finally(() => setChecking((now) => now - 1));
      for (const words of refused) showToast(words, "error");
      if (read.length > 0) onAttachments((current) => [...current, ...read]); // others may have been added or removed
    };
    reading.current = reading.current.then(add, add);
    await reading.current;
  };

  // Files may be dropped anywhere on the page, and pasted wherever nothing else is being written.
  const receive = useEffectEvent((files: File[]) => void addFiles(files));
  useEffect(() => {
    let depth = 0;
    const isOurs = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true && document.querySelector("dialog[open]") === null;
    const enter = (event: DragEvent) => {
      if (!isOurs(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!isOurs(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const move = (event: DragEvent) => {
      if (isOurs(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      receive([...event.dataTransfer.files]);
    };
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0 || event.defaultPrevented || isTyping(event.target)) return;
      event.preventDefault();
      receive(files);
    };
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("dragover", move);
    document.addEventListener("drop", drop);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("dragover", move);
      document.removeEventListener("drop", drop);
      document.removeEventListener("paste", paste);
    };
  }, []);

  return (
    <div className={`box ${over ? "over" : ""} ${props.tall ? "tall" : ""}`}>
      {over && (
        <div className="drop-shade" aria-hidden="true">
          {texts.dropItAnywhere}
        </div>
      )}
      {(attachments.length > 0 || checking > 0) && (
        <ul className="attachments" aria-label={texts.attached}>
          {attachments.map((attachment) => (
            <li key={attachment.id} className="attachment">
              <Thumbnail attachment={attachment} />
              {props.pages === true && attachment === attachments.find((other) => other.kind === "image") && pictures > 1 && (
                <span className="faint attachment-role">{texts.firstPage}</span>
              )}
              {props.pages === true && attachment.kind === "image" && attachment !== attachments.find((other) => other.kind === "image") && (
                <input
                  className="field small attachment-role"
                  aria-label={texts.pageName(attachment.name)}
                  value={pageNameOf(attachment)}
                  onChange={(event) => onAttachments(attachments.map((other) => (other === attachment ? { ...attachment, page: event.target.value } : other)))}
                />
              )}
              {props.roles === true && props.pages !== true && attachment.kind === "image" && pictures > 1 && (
                <select
                  className="select small attachment-role"
                  aria-label={texts.whatShows(attachment.name)}
                  value={attachment.role ?? ""}
                  onChange={(event) => onAttachments(attachments.map((other) => (other === attachment ? { ...attachment, role: event.target.value as Role } : other)))}
                >
                  <option value="">{texts.page}</option>
                  <option value="desktop">{texts.desktop}</option>
                  <option value="mobile">{texts.phone}</option>
                  <option value="detail">{texts.detail}</option>
                </select>
              )}
              <IconButton
                small
                icon="close"
                look="plain"
                label={texts.remove(attachment.name)}
                onClick={() => {
                  onAttachments(attachments.filter((other) => other !== attachment));
                  area.current?.focus();
                }}
              />
            </li>
          ))}
          {checking > 0 && (
            <li className="attachment checking">
              <span className="spinner" aria-hidden="true" />
              <span className="unseen">{texts.checkingTheFile}</span>
            </li>
          )}
        </ul>
      )}
      <textarea
        ref={area}
        rows={props.tall ? 3 : 1}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        autoFocus={props.autoFocus}
        onChange={(event) => onText(event.target.value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          const pasted = event.clipboardData.getData("text/plain");
          const name = files.length === 0 ? (props.asFile?.(pasted) ?? null) : null;
          if (name !== null) files.push(new File([pasted], name, { type: "text/html" }));
          if (files.length === 0) return;
          event.preventDefault();
          void addFiles(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (!props.disabled && checking === 0) onSubmit();
        }}
      />
      <div className="box-bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={props.accept}
          onChange={(event) => {
            void addFiles([...(event.target.files ?? [])]); // a copy: the list empties with the value
            event.target.value = "";
          }}
        />
        <Button small look="quiet" icon="image" aria-label={texts.attachFiles} title={texts.attachFiles} onClick={() => picker.current?.click()} />
        <div className="row wrap grow">{children}</div>
        <span className="row" inert={checking > 0}>
          {submit}
        </span>
      </div>
    </div>
  );
}

function Thumbnail({ attachment }: { attachment: Attachment }) {
  const [isPicture, setIsPicture] = useState(attachment.kind === "image"); // the server reads more formats than a browser, such as HEIC
  if (isPicture) return <img src={attachment.data} alt={attachment.name} onError={() => setIsPicture(false)} />;
  return <span className="attachment-name">{attachment.name}</span>;
}

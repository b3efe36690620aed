/** A box to write in that takes pasted, dropped and picked files as well. */

import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { showToast } from "../parts/toasts";
import { type Attachment, readFiles } from "./attachments";

interface Props {
  label: string;
  placeholder: string;
  text: string;
  onText(text: string): void;
  attachments: Attachment[];
  onAttachments(attachments: Attachment[]): void;
  onSubmit(): void;
  disabled?: boolean;
  accept?: string;
  tall?: boolean;
  autoFocus?: boolean;
  /** What stands under the text, beside the button for files. */
  children?: ReactNode;
  submit: ReactNode;
}

export function Box(props: Props) {
  const { label, placeholder, text, onText, attachments, onAttachments, onSubmit, submit, children } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);

  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 280)}px`;
  }, [text]);

  const addFiles = async (files: File[]) => {
    const { read, refused } = await readFiles(files);
    for (const words of refused) showToast(words, "error");
    if (read.length > 0) onAttachments([...attachments, ...read]);
  };

  return (
    <div
      className={`box ${over ? "over" : ""} ${props.tall ? "tall" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void addFiles([...event.dataTransfer.files]);
      }}
    >
      {attachments.length > 0 && (
        <ul className="attachments" aria-label="Attached">
          {attachments.map((each) => (
            <li key={each.id} className="attachment">
              <Thumbnail attachment={each} />
              <IconButton
                small
                icon="close"
                look="plain"
                label={`Remove ${each.name}`}
                onClick={() => onAttachments(attachments.filter((other) => other !== each))}
              />
            </li>
          ))}
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
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void addFiles([...event.clipboardData.files]);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (!props.disabled) onSubmit();
        }}
      />
      <div className="box-bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={props.accept ?? "image/*"}
          onChange={(event) => {
            void addFiles([...(event.target.files ?? [])]); // a copy: the list empties with the value
            event.target.value = "";
          }}
        />
        <Button small look="quiet" icon="image" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()} />
        <div className="row wrap grow">{children}</div>
        {submit}
      </div>
    </div>
  );
}

function Thumbnail({ attachment }: { attachment: Attachment }) {
  if (attachment.kind === "image") return <img src={attachment.data} alt={attachment.name} />;
  return <span className="attachment-name">{attachment.name}</span>;
}

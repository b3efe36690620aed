/** The keys of the page by where they work, for the dialog that ? opens and for the settings. */

export interface Shortcut {
  keys: string;
  action: string;
}

export interface ShortcutGroup {
  title: string;
  shortcuts: readonly Shortcut[];
}

export const SHORTCUT_GROUPS: readonly ShortcutGroup[] = [
  {
    title: "Everywhere",
    shortcuts: [
      { keys: "Ctrl+K", action: "All commands and projects" },
      { keys: "?", action: "This list" },
      { keys: "/", action: "Go to the message box" },
      { keys: "Escape", action: "Close a menu, leave full screen or selecting" },
    ],
  },
  {
    title: "While writing",
    shortcuts: [
      { keys: "Enter", action: "Send; with Shift a new line" },
      { keys: "Ctrl+V", action: "Attach the picture in the clipboard" },
      { keys: "Escape", action: "Stop the agent" },
    ],
  },
  {
    title: "In a conversation",
    shortcuts: [{ keys: "Ctrl+F", action: "Find words in all of it" }],
  },
  {
    title: "In a project",
    shortcuts: [
      { keys: "1 … 9", action: "Choose a variant; with Alt also while writing" },
      { keys: "[ and ]", action: "Earlier and later version" },
      { keys: "U", action: "Undo; with Shift redo" },
      { keys: "E", action: "Select and edit: arrow keys walk, Enter chooses" },
      { keys: "F", action: "Preview in full screen" },
      { keys: "Z", action: "Preview fitted or in full size" },
      { keys: "R", action: "Reload the preview" },
      { keys: "Ctrl+S", action: "Save the edited files as a new version" },
    ],
  },
];

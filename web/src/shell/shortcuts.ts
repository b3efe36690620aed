/** The keys of the page by where they work, for the dialog that ? opens and for the settings. */

import { shortcuts as texts } from "../texts/shell";

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
    title: texts.everywhere,
    shortcuts: [
      { keys: "Ctrl+K", action: texts.allCommandsAndProjects },
      { keys: "?", action: texts.thisList },
      { keys: "/", action: texts.goToTheMessageBox },
      { keys: "Escape", action: texts.closeAMenuLeaveFull },
    ],
  },
  {
    title: texts.whileWriting,
    shortcuts: [
      { keys: "Enter", action: texts.sendWithShiftANew },
      { keys: "Ctrl+V", action: texts.attachFromClipboard },
      { keys: "Escape", action: texts.stopTheAgent },
    ],
  },
  {
    title: texts.inAConversation,
    shortcuts: [{ keys: "Ctrl+F", action: texts.findInAll }],
  },
  {
    title: texts.inAProject,
    shortcuts: [
      { keys: "1 … 9", action: texts.chooseAVariantWithAlt },
      { keys: "[ and ]", action: texts.earlierAndLaterVersion },
      { keys: "U", action: texts.undoWithShiftRedo },
      { keys: "E", action: texts.selectAndEditArrowKeys },
      { keys: "F", action: texts.previewInFullScreen },
      { keys: "Z", action: texts.previewFittedOrInFull },
      { keys: "R", action: texts.reloadThePreview },
      { keys: "Ctrl+S", action: texts.saveVersion },
    ],
  },
];

/** The texts of parts that all views use: one object for each component. */

export const boundary = {
  thePageCannotBeShown: "The page cannot be shown because of an error in it.",
  thisViewCannotBeShown: "This view cannot be shown because of an error in the page.",
  thisPartOfThePage: "This part of the page cannot be shown because of an error in it.",
  thisItemCannotBeShown: "This item cannot be shown because of an error in the page.",
  whatYouWroteIsKept: "What you wrote is kept. If it happens again after a reload, report it with the details below.",
  reloadThePage: "Reload the page",
  copyTheReport: "Copy the report",
  details: "Details",
} as const;

export const clipboard = {
  copied: "Copied.",
  theBrowserDoesNotAllow: "The browser does not allow copying.",
} as const;

export const diagram = {
  flowchart: (list: string) => `Flowchart: ${list}`,
  sequenceDiagram: (list: string) => `Sequence diagram: ${list}`,
} as const;

export const dialog = {
  cancel: "Cancel",
} as const;

export const diff = {
  difference: "Difference",
  linesLeftOut: (count: string) => `⟦… ${count} lines left out⟧`,
} as const;

export const findBar = {
  findInTheConversation: "Find in the conversation",
  nothingFound: "Nothing found",
  of: (current: number, count: number) => `${current} of ${count}`,
  previousMatchShiftEnter: "Previous match (Shift-Enter)",
  nextMatchEnter: "Next match (Enter)",
  closeTheSearchEscape: "Close the search (Escape)",
} as const;

export const format = {
  ms: (number: number) => `${number} ms`,
  minS: (number: number, seconds: number) => `${number} min ${seconds} s`,
  justNow: "just now",
  minAgo: (minutes: number) => `${minutes} min ago`,
  hAgo: (number: number) => `${number} h ago`,
} as const;

export const lazyPart = {
  thisPartOfThePage: "This part of the page could not be loaded because the server cannot be reached. Reload the page when it is back.",
  thisPartOfThePageCould: "This part of the page could not be loaded, although the page is up to date.",
} as const;

export const lookAlikes = {
  andMore: (count: number) => `, and ${count} more`,
  containsLookAlikeCharacters: (list: string, more: string) => `contains look-alike characters: ${list}${more}`,
  looksLike: (character: string, name: string, ascii: string) => `${character} (${name}) looks like ${ascii}`,
  isCyrillic: (character: string, name: string) => `${character} (${name}) is Cyrillic`,
  isNot: (character: string, name: string) => `${character} (${name}) is not -`,
} as const;

export const picture = {
  cannotBeShown: (label: string) => `${label} cannot be shown`,
} as const;

export const prose = {
  copied: "Copied",
  copy: "Copy",
} as const;

export const toasts = {
  thatDidNotWork: "That did not work.",
  dismiss: "Dismiss",
} as const;

export const visible = {
  character: (figure: string, count: number) => `${figure} character${count === 1 ? "" : "s"}`,
  showLess: "Show less",
  showAllLeftOut: (characters: string) => `Show all (${characters} left out)`,
} as const;

export const visibleText = {
  hiddenCharacters: (figure: string, count: number) => `contains ${figure} hidden character${count === 1 ? "" : "s"}, written as ⟦…⟧`,
  containsRightToLeftLetters: "contains right-to-left letters, which a screen may show in another order",
  blankLines: (start: string, number: string) => `${start}⟦${number} blank lines⟧\n`,
  lineBreak: (figure: string, breaks: number) => `, ${figure} line break${breaks === 1 ? "" : "s"}`,
  characterLeftOut: (figure: string, count: number, lines: string) => `⟦… ${figure} character${count === 1 ? "" : "s"}${lines} left out⟧`,
} as const;

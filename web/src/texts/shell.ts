/** The texts of the menu, the commands and the help: one object for each component. */

export const app = {
  sessions: "Sessions",
  settings: "Settings",
  skipToContent: "Skip to content",
  menu: "Menu",
  loading: "Loading…",
} as const;

export const away = {
  theServerCannotBeReached: "The server cannot be reached. You can read on; changes wait until it is back, and everything continues by itself.",
  tryNow: "Try now",
} as const;

export const fetched = {
  thePageCouldNotRead: "The page could not read the server's answer.",
} as const;

export const help = {
  keyboardShortcuts: "Keyboard shortcuts",
  showTheTour: "Show the tour",
} as const;

export const keysHelp = {
  keyboardShortcuts: "Keyboard shortcuts",
  keysHint: "Keys without Ctrl work while no text field has the focus. On a Mac, ⌘ works in place of Ctrl.",
  showTheTour: "Show the tour",
  close: "Close",
} as const;

export const palette = {
  newProject: "New project",
  settings: "Settings",
  allSessions: "All sessions",
  lightTheme: "Light theme",
  darkTheme: "Dark theme",
  commands: "Commands",
  searchCommandsProjectsAndWhat: "Search commands, projects and what was said",
  whatToDoNow: "What do you want to do?",
  commandsAndProjects: "Commands and projects",
  nothingFoundTryFewerWords: "Nothing found. Try fewer words.",
  untitled: "Untitled",
} as const;

export const rename = {
  rename: "Rename",
  title: "Title",
  cancel: "Cancel",
} as const;

export const shortcuts = {
  everywhere: "Everywhere",
  allCommandsAndProjects: "All commands and projects",
  thisList: "This list",
  goToTheMessageBox: "Go to the message box",
  closeAMenuLeaveFull: "Close a menu, leave full screen or selecting",
  whileWriting: "While writing",
  sendWithShiftANew: "Send; with Shift a new line",
  attachFromClipboard: "Attach the picture in the clipboard",
  stopTheAgent: "Stop the agent",
  inAConversation: "In a conversation",
  findInAll: "Find words in all of it",
  inAProject: "In a project",
  chooseAVariantWithAlt: "Choose a variant; with Alt also while writing",
  earlierAndLaterVersion: "Earlier and later version",
  undoWithShiftRedo: "Undo; with Shift redo",
  selectAndEditArrowKeys: "Select and edit: arrow keys walk, Enter chooses",
  previewInFullScreen: "Preview in full screen",
  previewFittedOrInFull: "Preview fitted or in full size",
  reloadThePreview: "Reload the preview",
  saveVersion: "Save the edited files as a new version",
} as const;

export const sidebar = {
  main: "Main",
  closeMenu: "Close menu",
  new: "New",
  searchProjectsAndSessions: "Search projects and sessions",
  search: "Search",
  recent: "Recent",
  nothingFoundTryFewerWords: "Nothing found. Try fewer words.",
  nothingYet: "Nothing here yet. Build a page or start a conversation; it is listed here.",
  searchForOlderOnes: "Search for older ones.",
  allSessions: "All sessions",
  settings: "Settings",
  help: "Help",
  healdStart: "Heald: start",
  start: "Start",
  projectsAndSessions: "Projects and sessions",
  untitled: "Untitled",
  atWork: "at work",
  moreFor: (title: string) => `More for ${title}`,
  rename: "Rename",
  delete: "Delete",
  deleteTitle: (title: string) => `Delete “${title}”?`,
  deletedPermanently: "Its conversation and files are deleted permanently.",
  connected: "Connected",
  connecting: "Connecting…",
  connectionLost: "Connection lost",
  signedOut: "Signed out",
  tryNow: "Try now",
  themeChangeTo: (theme: string, next: string) => `Theme: ${theme}. Change to ${next}`,
} as const;

export const signIn = {
  openAddress: "Open the address that",
  healdServe: "heald serve",
  printedOrPasteItsToken: "printed, or paste its token here.",
  token: "Token",
  theServerDoesNotKnow: "The server does not know this token.",
  signIn: "Sign in",
} as const;

export const tabTitle = {
  heald: "Heald",
  healdTitle: (title: string) => `${title} · Heald`,
} as const;

export const textHits = {
  untitled: "Untitled",
} as const;

export const tour = {
  comeBackToIt: "Come back to it",
  projectsAndConversationsAreListed: "Projects and conversations are listed in the menu. Search there, or press Ctrl+K. Help, or the key ?, lists the keys and shows this tour again.",
  sayWhatToBuild: "Say what to build",
  attachAScreenshotOrPick: "Attach a screenshot, or pick one below, and press Build. With a provider's key a sentence is enough, and several models build it side by side.",
  orStartFromAFinished: "Or start from a finished project",
  galleryHint: "Each one opens as a project of yours. Choose Select and edit, then a text or a box, to change it; or edit the code. No key is needed.",
  askForSomething: "Ask for something",
  writeHint: "Write what you want and press Start. Every word, tool call and file change appears as it happens.",
  youDecide: "You decide",
  byDefaultTheAgentAsks: "By default the agent asks before it does anything but read. You approve or deny each call, and can stop it at any time.",
  tour: "Tour",
  stepOf: (number: number, count: number) => `Step ${number} of ${count}`,
  skipTheTour: "Skip the tour",
  back: "Back",
  done: "Done",
  next: "Next",
} as const;

/** The texts of a conversation: one object for each component. */

export const ask = {
  allow: (name: string) => `Allow ${name}?`,
  allowThisCallOf: (name: string) => `Allow this call of ${name}?`,
  allowOnce: "Allow once",
  alwaysAllowThis: "Always allow this",
  deny: "Deny",
  reasonIfYouDenyIt: "Reason, if you deny it",
  whatItDoes: "What it does",
  whatItChanges: "What it changes",
  allArguments: "All arguments",
  argument: (name: string) => `Argument ${name}`,
  question: "Question",
  whatIsAsked: "What is asked",
  anotherAnswer: "Another answer",
  orInOtherWords: "Or in other words…",
  answer: "Answer",
} as const;

export const attachments = {
  figmaFile: (name: string) => `${name} is in Figma's own format; paste the link of the frame, or export it as PNG.`,
  unknownKind: (name: string) => `${name} is neither a picture, a film, a page, a PDF nor a text.`,
  tooLarge: (name: string) => `${name} is larger than 32 MB.`,
  pdfTooLarge: (name: string) => `${name} is a PDF of more than 8 MB; attach the pages that matter.`,
  textTooLarge: (name: string) => `${name} is a text of more than 1 MB; attach the part that matters.`,
} as const;

export const box = {
  dropItAnywhere: "Drop it anywhere",
  attached: "Attached",
  firstPage: "First page",
  pageName: (name: string) => `Name of the page that ${name} becomes`,
  whatShows: (name: string) => `What ${name} shows`,
  page: "Page",
  desktop: "Desktop",
  phone: "Phone",
  detail: "Detail",
  remove: (name: string) => `Remove ${name}`,
  checkingTheFile: "Checking the file",
  attachFiles: "Attach files",
} as const;

export const branchSteps = {
  of: (noun: string, number: number, count: number) => `${noun} ${number} of ${count}`,
  previous: (noun: string) => `Previous ${noun}`,
  ofNumber: (number: number, count: number) => `${number} of ${count}`,
  next: (noun: string) => `Next ${noun}`,
  branch: "Branch",
} as const;

export const composer = {
  message: "Message",
  sayMoreWhileItWorks: "Say more while it works…",
  writeAMessage: "Write a message…",
  stopEscape: "Stop (Escape)",
  sendEnter: "Send (Enter)",
  whileItWorks: "While it works",
  queueAfterThis: "Queue: after this",
  steerAtTheNextTurn: "Steer: at the next turn",
  interruptInsteadOfThis: "Interrupt: instead of this",
  waitingRequests: "Waiting requests",
  notSent: "Not sent",
  sentLater: (reason: string) => `${reason} The message is sent when it can be.`,
  doNotSend: "Do not send",
  queued: "Queued",
  aRequest: "A request",
  takeBack: "Take back",
} as const;

export const elapsed = {
  inS: (seconds: number) => `in ${seconds} s`,
  s: (seconds: number) => `${seconds} s`,
  minS: (number: number, seconds: number) => `${number} min ${seconds} s`,
} as const;

export const memoryList = {
  memory: "Memory",
  nothingIsRememberedYetFacts: "Nothing is remembered yet. Facts that the agent notes are listed here.",
  newFact: "New fact",
  rememberThat: "Remember that …",
  add: "Add",
  fact: (id: string) => `Fact ${id}`,
  saveFact: "Save fact",
  keepItForAllConversations: "Keep it for all conversations in this folder",
  keep: "Keep",
  change: (id: string) => `Change ${id}`,
  forget: (id: string) => `Forget ${id}`,
  thisConversationOnly: "this conversation only",
  addedByAPerson: "added by a person",
  event: (number: number) => `event ${number}`,
  eventOf: (number: number, session: string) => `event ${number} of ${session}`,
} as const;

export const messages = {
  editMessage: "Edit message",
  cancel: "Cancel",
  branchFromHere: "Branch from here",
  editAndBranch: "Edit and branch",
  tryAgain: "Try again",
  steered: "Steered",
  attachedPicture: (at: number) => `Attached picture ${at}`,
  whatTheModelWasSent: "What the model was sent",
  declined: "Declined",
  stoppedHere: "Stopped here",
  sources: "Sources",
  copyThisAnswer: "Copy this answer",
  thinking: "Thinking",
  thought: "Thought",
  thoughtForS: (seconds: number | null) => `Thought for ${seconds} s`,
  costUnknown: "cost unknown",
  done: "Done",
  stopped: "Stopped",
  failed: "Failed",
  limitReached: "Limit reached",
  turn: "turn",
  turns: "turns",
  tokens: (used: string) => `${used} tokens`,
} as const;

export const sessionSettings = {
  readOnlyChangesNothing: "Read only: changes nothing",
  askBeforeEveryChange: "Ask before every change",
  askOutsideFolder: "Ask before anything leaves the folder",
  workWithoutAsking: "Work without asking",
  sessionSettings: "Session settings",
  title: "Title",
  model: "Model",
  permissions: "Permissions",
  cancel: "Cancel",
  save: "Save",
} as const;

export const sessionView = {
  timeline: "Timeline",
  events: "Events",
  session: "Session",
  allSessions: "All sessions",
  newSession: "New session",
  compareWithOrigin: "Compare with the session that it was forked from",
  compare: "Compare",
  partsOfTheSession: "Parts of the session",
  chat: "Chat",
  files: (changed: number) => `Files ${changed}`,
  filesLabel: "Files",
  sessionSettings: "Session settings",
  loading: "Loading…",
} as const;

export const sources = {
  providersTool: (name: string) => `Provider's tool ${name}`,
  found: "Found",
  running: "running",
  failed: "failed",
  done: "done",
} as const;

export const thread = {
  loading: "Loading",
  conversation: "Conversation",
  ready: "Ready",
  thinking: "Thinking",
  writing: "Writing",
  working: "Working",
  waitingForYou: "Waiting for you",
  waitingForAttempt: (number: number) => `Waiting for attempt ${number}`,
  waitingForAClient: "Waiting for a client",
  continuedBefore: "The conversation went on from here before.",
  bringItBack: "Bring it back",
  theAnswerIsComplete: "The answer is complete.",
  theRequestEnded: (outcome: string) => `The request ended: ${outcome}.`,
  theAgentWaitsForYou: "The agent waits for you.",
  unknown: "unknown",
} as const;

export const toolCard = {
  waitsForAClient: "waits for a client",
  tool: (name: string) => `Tool ${name}`,
  toolCalledByTheProgram: (name: string) => `Tool ${name}, called by the program`,
  differenceInRevision: (path: string, revision: number) => `Difference in ${path}, revision ${revision}`,
  input: "Input",
  answer: "Answer",
  outputSoFar: "Output so far",
  outputShortened: "Output (shortened)",
  output: "Output",
  appOf: (name: string) => `App of ${name}`,
  pictureOf: (at: number, name: string) => `Picture ${at} of ${name}`,
  alwaysAllowed: "Always allowed",
  allowed: "Allowed",
  denied: "Denied",
  beingWritten: "being written",
  waitingForYou: "waiting for you",
  failedWithExitCode: (exitCode: number | null) => `failed with exit code ${exitCode}`,
  exitCode: (exitCode: number | null) => `exit code ${exitCode}`,
  andMore: (rest: number) => ` and ${rest} more`,
  noArguments: "No arguments.",
  running: "running",
  planned: "planned",
  done: "done",
  failed: "failed",
} as const;

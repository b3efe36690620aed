/** The texts of the files and the timeline of a session: one object for each component. */

export const commandOutput = {
  outputOf: (command: string) => `Output of ${command}`,
  noOutput: "No output.",
  exit: (code: number) => `exit ${code}`,
  runs: "runs",
} as const;

export const files = {
  loading: "Loading…",
  noFiles: "No files yet. Files that the agent writes are listed here.",
  files: "Files",
  whatToShow: "What to show",
  changes: "Changes",
  content: "Content",
  history: "History",
  download: "Download",
  nothingIsLeftToLook: "Nothing is left to look at here.",
  notChangedInThisSession: "Not changed in this session.",
  allChangesAreAccepted: "All changes are accepted.",
  toLookAt: (count: number) => `${count} ${count === 1 ? "file" : "files"} to look at`,
  acceptAll: "Accept all",
  revision: (revision: number) => `Revision ${revision}`,
  byYou: "by you",
  differenceOfRevision: (revision: number) => `Difference of revision ${revision}`,
  deleted: "Deleted.",
  noDifferenceIsRecorded: "No difference is recorded.",
  theFileIsDeleted: "The file is deleted.",
  thisFileIsNotText: "This file is not text.",
  created: "new",
  changed: "changed",
  deletedNote: "deleted",
} as const;

export const planSteps = {
  toDo: "to do",
  inProgress: "in progress",
  plan: "Plan",
  ofDone: (done: number, count: number) => `${done} of ${count} done`,
  done: "done",
} as const;

export const review = {
  newFile: "New file",
  changed: "Changed",
  deleted: "Deleted",
  loading: "Loading…",
  in: (isAccept: boolean, isHunk: boolean, path: string) => `${isAccept ? "Accepted" : "Reverted"} ${isHunk ? "all changes" : "one change"} in ${path}.`,
  changesIn: (path: string) => `Changes in ${path}`,
  thisFileHasNoLines: "This file has no lines to show.",
  revertFile: "Revert file",
  acceptFile: "Accept file",
  revert: (name: string) => `Revert ${name}`,
  revertLabel: "Revert",
  accept: (name: string) => `Accept ${name}`,
  acceptLabel: "Accept",
  difference: (name: string) => `Difference, ${name}`,
  changes: (count: number) => (count === 1 ? "1 change" : `${count} changes`),
} as const;

export const timeline = {
  wentBackFilesThatSomething: "Went back. Files that something else has changed since stay as they are.",
  noRequests: "No requests yet. Each one is a checkpoint that you can go back to.",
  checkpoints: "Checkpoints",
  laterState: "You went back; there is a later state.",
  returnToTheLaterState: "Return to the later state",
  aRequest: "A request",
  checkpoint: (number: number, title: string) => `Checkpoint ${number}: ${title}`,
  goBackTo: (title: string) => `Go back to before this: ${title}`,
  goBackToBeforeThisLabel: "Go back to before this",
  runs: "runs",
} as const;

export const editor = {
  contentOf: (path: string) => `Content of ${path}`,
} as const;

export const merge = {
  differencesIn: (path: string) => `Differences in ${path}`,
  thereIsNoDifference: "There is no difference.",
} as const;

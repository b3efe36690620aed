/** The texts of a session on a phone: one object for each component. */

export const decide = {
  session: "Session",
  allow: (name: string) => `Allow ${name}?`,
  allowThisCallOf: (name: string) => `Allow this call of ${name}?`,
  openTheWholeSession: "Open the whole session",
  deny: "Deny",
  allowOnce: "Allow once",
  stopTheWork: "Stop the work",
  nothingWaitsForYou: "Nothing waits for you.",
  thingsWaitForYou: (waiting: number) => `${waiting} things wait for you.`,
  itWaitsForYou: "It waits for you.",
  itWorks: "It works.",
  itIsDone: "It is done.",
} as const;

export const pushSwitch = {
  notifyMeOnThisDevice: "Notify me on this device",
  theBrowserDoesNotAllow: "The browser does not allow notifications of this page.",
} as const;

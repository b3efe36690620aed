/** The texts of the comparison of two sessions: one object for each component. */

export const compareSessions = {
  comparison: "Comparison",
  allSessions: "All sessions",
  loading: "Loading…",
  another: "another",
  failed: (failedCalls: number | undefined) => `${failedCalls} failed`,
  unknownCost: "unknown cost",
  sharedEvents: (count: number) => (count === 1 ? "1 shared event" : `${count} shared events`),
  open: "open",
  thenTurns: (count: number) => (count === 1 ? "then 1 turn" : `then ${count} turns`),
  calls: (count: number) => (count === 1 ? "1 call" : `${count} calls`),
  files: (count: number) => (count === 1 ? "1 file" : `${count} files`),
} as const;

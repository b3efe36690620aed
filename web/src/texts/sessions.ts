/** The texts of the list of sessions: one object for each component. */

export const sessionList = {
  sessions: "Sessions",
  searchSessions: "Search sessions",
  searchByTitle: "Search by title",
  untitled: "Untitled",
  noSessions: "No sessions yet. New, in the menu, starts one.",
  noTitleHasTheseWords: "No title has these words. Search in the menu reads the messages too.",
  showMore: "Show more",
} as const;

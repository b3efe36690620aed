/** The texts of the inspector of events: one object for each component. */

export const inspector = {
  view: "View",
  log: "Log",
  waterfall: "Waterfall",
  layers: "Layers",
  searchEvents: "Search events",
  searchTypeOrContent: "Search type or content…",
  events: (count: number) => `${count} events`,
  export: "Export",
  eventsLabel: "Events",
  whatIf: "What if…",
  close: "Close",
} as const;

export const waterfall = {
  nothingHasRunYetSend: "Nothing has run yet. Send a message: its model turns and tool calls are timed here.",
  timings: "Timings",
} as const;

export const whatIf = {
  model: "Model",
  prompt: "Prompt",
  result: "Result",
  approval: "Approval",
  otherModelHint: "Another model answers from this turn on.",
  theExchangeOfThisEvent: "The exchange of this event runs again with another request.",
  theCallGetsAnotherResult: "The call gets another result, and the model continues with it. The tool does not run.",
  decisionHint: "The call is run or refused. A call that is allowed does run.",
  another: (title: string, part: string) => `${title} · another ${part}`,
  whatIfAtEvent: (seq: number) => `What if, at event ${seq}`,
  whatDiffers: "What differs",
  decision: "Decision",
  deny: "Deny",
  allow: "Allow",
  reasonForTheModel: "Reason, for the model",
  theCallFailed: "The call failed",
  cancel: "Cancel",
  forkAndCompare: "Fork and compare",
} as const;

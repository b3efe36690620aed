/** The texts of causes: one object for each component. */

export const causeCode = {
  style: "style",
  markup: "markup",
  writtenBy: (writing: number) => `Written by ${writing}`,
  andMoreLines: (cut: number) => `and ${cut} more lines`,
  line: (number: number) => `line ${number}`,
  lines: (first: number, last: number) => `lines ${first} to ${last}`,
} as const;

export const causePanel = {
  whereItComesFrom: "Where it comes from",
  whereComesFrom: (tag: string) => `Where <${tag}> comes from`,
  selectAnotherElement: "Select another element",
  closeThisPanel: "Close this panel",
  changeItByHand: "Change it by hand",
  searching: "Searching the screenshot and the log…",
  inTheScreenshot: "In the screenshot",
  thisProjectHasNoScreenshot: "This project has no screenshot.",
  writtenBy: "Written by",
  aScriptCreatesThisElement: "A script creates this element, so no file contains it.",
  sourceLines: "Source lines",
} as const;

export const causePicture = {
  itsTextWasFoundHere: "Its text was found here.",
  aMatchingShapeWasFound: "A matching shape was found here.",
  estimatedPlace: "Not found; this place is an estimate.",
  screenshotRectangle: (left: number, top: number, width: number, height: number) => `Screenshot, rectangle at ${left}, ${top}, ${width} by ${height} pixels`,
  wholePicture: "Whole picture",
  compare: "Compare",
} as const;

export const causeWriting = {
  version: (number: number) => `Version ${number}`,
  event: (seq: number) => `Event ${seq}`,
  imported: "Imported",
  editedByHand: "Edited by hand",
  draftByTheLocalConverter: "Draft by the local converter",
  filesThatTheVersionBegan: "Files that the version began with",
  aModel: "A model",
} as const;

/** The texts of design systems: one object for each component. */

export const designPanel = {
  savedEveryBuildAndChange: "Saved. Every build and change of this project gets it.",
  designSystem: "Design system",
  designSystemOfTheProject: "Design system of the project",
  designMd: "design.md",
  coloursFontsSizesAndComponents: "Colours, fonts, sizes and components that every variant of this project follows. Read them, correct them, then save.",
  changes: "Changes",
  notSavedYet: "Not saved yet.",
  discard: "Discard",
  save: "Save",
  textOfDesignMd: "Text of design.md",
  scoreOfThePage: "Score of the page",
  thisPage: "This page",
} as const;

export const designScore = {
  thePageIsScoredOnce: "The page is scored once the variant is done and the design system has values.",
  renderingThePage: "Rendering the page…",
  thePageUsesNoValues: "The page uses no values of the kinds that the design system names.",
  share: "of the page keeps to it",
  of: (kept: number, total: number) => `${kept} of ${total}`,
  otherValues: "Other values",
  nearest: (nearest: string) => `Nearest: ${nearest}`,
  thePageIsLargeOnly: "The page is large; only its first elements were read.",
} as const;

export const designSource = {
  noneOfTheFilesDescribes: "None of the files describes a design; choose design.md, style sheets, a Tailwind configuration, design tokens or components.",
  addressMissing: "Enter the address of a page first.",
  readADesignSystem: "Read a design system",
  addressOfAPage: "Address of a page",
  httpsExampleOrg: "https://example.org",
  read: "Read",
  folderOfTheServer: "Folder of the server",
  repository: "Repository…",
  filesOfADesignSystem: "Files of a design system",
  folderOfADesignSystem: "Folder of a design system",
  files: "Files",
  folder: "Folder",
  reading: "Reading",
} as const;

export const designTokens = {
  remove: (label: string) => `Remove ${label}`,
  addAValue: "Add a value",
  kind: "Kind",
  name: "Name",
  value: "Value",
  add: "Add",
} as const;

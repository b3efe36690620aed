/** The texts of the start page: one object for each component. */

export const draftSwitch = {
  theConverterBuildsThePage: "The converter builds the page here without a model. The models then change only what differs from the picture.",
  freeDraftFirst: "Free draft first",
} as const;

export const frame = {
  loading: (title: string) => `${title}, loading`,
} as const;

export const gallery = {
  finishedProjects: "Finished projects to open and change, no key needed",
} as const;

export const modelChoice = {
  models: (words: string) => `Models: ${words}`,
  chooseModels: "Choose models",
  searchModels: "Search models",
  modelsLabel: "Models",
  automatic: "Automatic",
  noModelIsAvailable: "no model is available",
  noModels: "No models.",
  noModelOfThatName: "No model of that name.",
  noKey: "no key",
  dollarsForAMillionTokens: "Dollars for a million tokens, in and out",
  free: "free",
  contextSize: "Tokens that fit into a request",
  noPictures: "no pictures",
  picturesOnly: "pictures only",
  chosen: (count: number) => `${count} chosen`,
  fast: "fast",
  thorough: "thorough",
  none: "none",
  automaticChoice: "automatic",
} as const;

export const pictureHint = {
  kindAutomatic: "Kind: automatic",
  screenshot: "Screenshot",
  sketch: "Sketch",
  photoOfAScreen: "Photo of a screen",
  scaleAutomatic: "Scale: automatic",
  scale1: "Scale: 1×",
  scale2Retina: "Scale: 2× (Retina)",
  scale3: "Scale: 3×",
  kindOfPicture: "Kind of picture",
  scaleOfThePicture: "Scale of the picture",
} as const;

export const price = {
  priceUnknown: "price unknown",
  thePriceOfThisModel: "The price of this model is not known here.",
  noPrice: "This model runs without a price.",
  estimateHint: "Estimated from the tokens of the variant that is changed.",
  dollarsForAMillionTokens: "Dollars for a million tokens, in and out, of each variant.",
  about: (total: string) => `about ${total}`,
} as const;

export const recorder = {
  nothingIsRecordedNoScreen: "Nothing is recorded: no screen was chosen.",
  recordTheScreen: "Record the screen",
  stopRecordingS: (seconds: number) => `Stop recording (${seconds} s)`,
  readingTheRecording: "Reading the recording…",
  ofTheRecordingSent: (count: number) => `${count === 1 ? "One moment" : `${count} moments`} of the recording ${count === 1 ? "is" : "are"} sent`,
  storyboard: "Storyboard",
  atS: (seconds: string) => `At ${seconds} s`,
  s: (seconds: string) => `${seconds} s`,
} as const;

export const start = {
  desktopAndPhone: "Desktop and phone",
  px1920PxWide: "1920 px wide",
  px1440PxWide: "1440 px wide",
  px1280PxWide: "1280 px wide",
  px768PxWide: "768 px wide",
  px390PxWide: "390 px wide",
  whatShallWeBuild: "What shall we build?",
  whatShallWeWorkOn: "What shall we work on?",
  askOrLetAnAgent: "Ask, or let an agent work in a folder. It shows everything it does.",
  whatToDo: "What to do",
  buildAPage: "Build a page",
  assistant: "Assistant",
  aScreenshotOrASketch: "A screenshot or a sketch becomes a page, here on this machine.",
  tagline: "A screenshot, a sketch, an address or a sentence: several models build it side by side.",
  whatToBuild: "What to build",
  pasteOrDropAScreenshot: "Paste or drop a screenshot, paste the code of a page, or enter its address…",
  describePage: "Describe a page, paste a screenshot or code, or enter an address of a page or of a frame in Figma…",
  import: "Import",
  build: "Build",
  stack: "Stack",
  variants: "Variants",
  eachPictureAPage: "Each picture a page",
  widthOfTheCapturedPage: "Width of the captured page",
  wholePage: "Whole page",
  designSystem: "Design system",
  noDesignSystem: "No design system",
  thePageBecomesVersion1: "The page becomes version 1 unchanged. No model is called.",
  readingADesignFromFigma: "Reading a design from Figma needs a token.",
  setAFigmaToken: "Set a Figma token",
  orAttachFrame: ", or attach the frame as a picture.",
  wordsAloneCannotBeBuilt: "Words alone cannot be built here: attach a screenshot. ",
  picturesOnly: "Pictures only: the converter that comes with Heald turns screenshots into pages. ",
  setAProvidersKey: "Set a provider's key",
  toBuildFromWords: "to build from words.",
  recentProjects: "Recent projects",
  untitled: "Untitled",
  screenshotsToTryItWith: "Screenshots to try it with",
  examples: "Examples",
} as const;

export const assist = {
  noModelIsAvailableSet: "No model is available: set a provider's key on the server.",
  whatToWorkOn: "What to work on",
  askSomethingOrSayWhat: "Ask something, or say what to do in the folder…",
  start: "Start",
  model: "Model",
  folder: "Folder",
  noFolder: "No folder",
  tools: "Tools",
  toolsOfTheServer: "Tools of the server",
  allTools: "All tools",
  permissions: "Permissions",
  noLanguageModelIsAvailable: "No language model is available: the converter that comes with Heald understands pictures and small changes only.",
  setAProvidersKey: "Set a provider's key",
  toTalkToAnAssistant: "to talk to an assistant.",
} as const;

export const repositoryLinks = {
  withItsOwnDevServer: "With its own dev server and a branch for each change:",
} as const;

/** The texts of a repository: one object for each component. */

export const agreeCard = {
  devServer: "Dev server",
  packages: "Packages",
  tests: "Tests",
  runCode: "Run the code of this repository",
  runTheCodeOfThisRepository: "Run the code of this repository?",
  sandboxHint: "Its commands run in a sandbox: they can change this folder and nothing else, have none of your keys, and reach only hosts that you allow.",
  hostsOfItsPackages: "Hosts of its packages",
  runWithoutNetwork: "Run without network",
  runAndAllowTheseHosts: "Run and allow these hosts",
} as const;

export const changeBar = {
  pullRequestIsOpen: (number: number) => `Pull request ${number} is open.`,
  beganAt: (base: string) => `Began at ${base}`,
  theCurrentBranch: "The current branch",
  noBranch: "no branch",
  notCommitted: (count: number) => `${count} ${count === 1 ? "file" : "files"} not committed`,
  from: (commits: number, base: string) => `${commits} ${commits === 1 ? "commit" : "commits"} from ${base}`,
  commit: "Commit",
  pullRequest: "Pull request",
  moreForThisChange: "More for this change",
  mergeInto: (base: string) => `Merge into ${base}`,
  theChangeIsIn: (base: string) => `The change is in ${base}.`,
  backToKeepTheBranch: (base: string) => `Back to ${base}, keep the branch`,
  thisIsAgain: (base: string) => `This is ${base} again.`,
  commitTo: (branch: string) => `Commit to ${branch}`,
  message: "Message",
  theChangeIsCommitted: "The change is committed.",
  pullRequestFor: (base: string) => `Pull request for ${base}`,
  title: "Title",
  description: "Description",
  openPullRequest: "Open pull request",
} as const;

export const hostQuestion = {
  blockedHosts: "Blocked hosts",
  wasBlocked: "was blocked.",
  allow: (host: string) => `Allow ${host}`,
} as const;

export const modelSelect = {
  model: "Model",
} as const;

export const previewBar = {
  ownPagesOnly: "The preview shows pages of the dev server only; enter a path such as /about.",
  reloadThePreview: "Reload the preview",
  pathOfThePage: "Path of the page",
  width: "Width",
  fullWidth: "Full width",
  px768Pixels: "768 pixels",
  px390Pixels: "390 pixels",
  openInANewTab: "Open in a new tab",
  stopTheDevServer: "Stop the dev server",
} as const;

export const previewStage = {
  noDevScript: "The package.json of this folder has no script named dev, start or serve, so there is no preview. The assistant works all the same.",
  theInstallationFailed: "The installation failed",
  thePackagesAreNotInstalled: "The packages are not installed",
  packages: "Packages",
  installingPackages: "Installing packages…",
  outputOfTheInstallation: "Output of the installation",
  theyAreInstalledWith: (install: string) => `They are installed with ${install}.`,
  stop: "Stop",
  install: "Install",
  start: (dev: string) => `Start ${dev}`,
  theDevServerIsStarting: "The dev server is starting…",
  devServer: "Dev server",
  theDevServerHasEnded: "The dev server has ended",
  devServerStopped: "The dev server does not run",
  outputOfTheDevServer: "Output of the dev server",
  itPrintedNothing: "It printed nothing.",
  installPackages: "Install packages",
  devServerElsewhere: "The dev server runs. Its preview is shown in a browser on the same machine: open Heald at localhost or 127.0.0.1.",
  previewOf: (name: string) => `Preview of ${name}`,
} as const;

export const reportList = {
  fixThis: "Fix this",
} as const;

export const repositoryChat = {
  sayWhatToChange: "Say what to change. The change gets a branch of its own, and the preview shows it while it is made.",
  message: "Message",
  sayMoreWhileItWorks: "Say more while it works…",
  whatShouldChange: "What should change?",
  stopEscape: "Stop (Escape)",
  sendEnter: "Send (Enter)",
  noModelIsAvailableSet: "No model is available: set a provider's key on the server.",
} as const;

export const repositoryPage = {
  loading: "Loading…",
  startPage: "Start page",
  newConversation: "New conversation",
  partsOfTheRepository: "Parts of the repository",
  chat: "Chat",
  preview: "Preview",
} as const;

export const sidePanel = {
  fixErrors: "Fix errors",
  behindThePreview: "Behind the preview",
  console: "Console",
  network: "Network",
  devServer: "Dev server",
  tests: "Tests",
  changes: "Changes",
  thePageHasWrittenNothing: "The page has written nothing to its console.",
  thePageHasNotRequested: "The page has not requested anything yet.",
  outputOfTheDevServer: "Output of the dev server",
  theDevServerHasPrinted: "The dev server has printed nothing yet.",
  noTestScript: "The package.json has no script named test.",
  stop: "Stop",
  runTests: "Run tests",
  fixTests: "Fix tests",
  fixThis: "Fix this",
  outputOfTheTests: "Output of the tests",
  theTestsHaveNotRun: "The tests have not run yet.",
  loading: "Loading…",
  noFileHasChanged: "No file has changed.",
} as const;

export const textDialog = {
  cancel: "Cancel",
} as const;

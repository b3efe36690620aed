/** What the agent suggests to do next: the list under “Next steps:” at the end of its last text. */

const HEAD = /(?:^|\n)[ \t]*(?:#+[ \t]*)?\**Next steps:?\**:?[ \t]*(?=\n|$)/i;
const MOST = 3;
const LONGEST = 160;

/** The text without its suggestions, also while they are still being written. */
export function withoutSteps(text: string): string {
  const heading = HEAD.exec(text);
  return heading === null ? text : text.slice(0, heading.index).trimEnd();
}

export function stepsOf(text: string): string[] {
  const heading = HEAD.exec(text);
  if (heading === null) return [];
  const lines = text.slice(heading.index + heading[0].length).split("\n");
  const steps = lines.map((line) => /^\s*(?:[-*]|\d+[.)])\s+(.+)$/.exec(line)?.[1]?.trim() ?? "");
  return steps.filter((step) => step !== "" && step.length <= LONGEST).slice(0, MOST);
}

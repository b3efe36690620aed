/** The words for how requests, variants and calls ended. */

const WORDS: Record<string, string> = { cancelled: "stopped", unknown_tool: "unknown tool", invalid_input: "invalid input" };

export function statusText(status: string): string {
  return WORDS[status] ?? status;
}

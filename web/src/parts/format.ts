/** Figures as people read them. */

import { format as texts } from "../texts/parts";
import { escapeHidden } from "./visible_text";

export function duration(ms: number): string {
  if (ms < 1000) return texts.ms(Math.round(ms));
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : texts.minS(Math.floor(seconds / 60), seconds % 60);
}

export function tokens(count: number): string {
  if (count < 1000) return `${count}`;
  return count < 100_000 ? `${(count / 1000).toFixed(1)}k` : `${Math.round(count / 1000)}k`;
}

export function money(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** A share from 0 to 1 in whole percent, never rounded up: only what is complete is 100 %. */
export function wholePercent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)} %`;
}

/** A moment, in seconds or as ISO text, as a date that a person can place. */
export function ago(moment: number | string, now = Date.now()): string {
  const time = typeof moment === "string" ? Date.parse(moment) : moment * 1000;
  if (Number.isNaN(time)) return "";
  const minutes = Math.round((now - time) / 60_000);
  if (minutes < 1) return texts.justNow;
  if (minutes < 60) return texts.minAgo(minutes);
  if (minutes < 24 * 60) return texts.hAgo(Math.round(minutes / 60));
  return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** A sentence of the server without the words that only its log needs. */
export function inPlainWords(text: string): string {
  return text.replace(/\bThe exchange\b/g, "It").replace(/\bthe exchange\b/g, "it").replace(/\bthe operator\b/g, "the person who runs the server");
}

/** Text that is only read: characters that hide or reorder text stand as their code. Summaries have such codes already. */
export function plain(text: string): string {
  return escapeHidden(text).replaceAll("⟦\\u27e6⟧", "⟦").replaceAll("⟦\\u27e7⟧", "⟧");
}

/** The first line of a text, shortened: a title. */
export function firstWords(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

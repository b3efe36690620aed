/** What conversations and projects say: the server searches in all of their text. */

import { useEffect, useState } from "react";
import { type SearchHit, searchText } from "../wire/api";
import { address } from "./route";

const SHORTEST = 3;
const AFTER_A_LETTER = 250;
/** The server answers in parts; after so many hits or parts no more are asked for. */
const MOST = 40;
const PARTS = 8;

export interface TextHit {
  key: string;
  kind: "project" | "session";
  title: string;
  excerpt: string;
  href: string;
}

/** The hits for the words, and whether more may come. One for each place: several tries of a project are one. */
export function useTextHits(search: string): { hits: readonly TextHit[]; busy: boolean } {
  const [state, setState] = useState<{ search: string; hits: readonly TextHit[]; busy: boolean }>({ search: "", hits: [], busy: false });
  const words = search.trim();
  useEffect(() => {
    if (words.length < SHORTEST) return undefined;
    let current = true;
    const load = async () => {
      const hits: SearchHit[] = [];
      let after: string | null = null;
      for (let part = 0; part < PARTS && hits.length < MOST; part += 1) {
        const answer = await searchText(words, after);
        if (!current) return;
        hits.push(...answer.hits);
        after = answer.next;
        setState({ search: words, hits: placesOf(hits), busy: after !== null });
        if (after === null) return;
      }
      setState({ search: words, hits: placesOf(hits), busy: false });
    };
    const timer = window.setTimeout(() => void load().catch(() => current && setState({ search: words, hits: [], busy: false })), AFTER_A_LETTER);
    return () => {
      current = false;
      window.clearTimeout(timer);
    };
  }, [words]);
  return words.length >= SHORTEST && state.search === words ? state : { hits: [], busy: words.length >= SHORTEST };
}

function placesOf(hits: readonly SearchHit[]): TextHit[] {
  const places = new Map<string, TextHit>();
  for (const { session, kind, parent, title, excerpt } of hits) {
    const isVariant = kind === "variant" && parent !== null;
    if (kind !== "" && !isVariant) continue;
    const id = isVariant ? parent : session;
    const key = `${id} ${excerpt}`;
    if (!places.has(key)) places.set(key, { key, kind: isVariant ? "project" : "session", title: title || "Untitled", excerpt, href: address(isVariant ? "project" : "session", id) });
  }
  return [...places.values()].slice(0, MOST);
}

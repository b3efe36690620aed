/** What conversations and projects say: the server searches in all of their text. */

import { useEffect, useRef, useState } from "react";
import { useDelayed } from "../parts/delayed";
import { textHits as texts } from "../texts/shell";
import { type SearchHit, searchText } from "../wire/api";
import { useFetched } from "./fetched";
import { address } from "./route";

const SHORTEST = 3;
const AFTER_A_LETTER = 250;
/** The server answers in parts; after so many hits or parts no more are asked for. */
const MOST = 40;
const PARTS = 8;
const NO_HITS: readonly TextHit[] = [];

export interface TextHit {
  key: string;
  kind: "project" | "session";
  title: string;
  excerpt: string;
  href: string;
}

/** The hits for the words, and whether more may come. One for each place: several tries of a project are one. */
export function useTextHits(search: string): { hits: readonly TextHit[]; busy: boolean } {
  const typed = search.trim();
  const words = useDelayed(typed, AFTER_A_LETTER);
  const [first, setFirst] = useState({ words: "", hits: NO_HITS }); // those of the parts that have been answered
  const latest = useRef(typed);
  useEffect(() => {
    latest.current = typed;
  }, [typed]);
  const read = async () => {
    const hits: SearchHit[] = [];
    let after: string | null = null;
    for (let part = 0; part < PARTS && hits.length < MOST && latest.current === words; part += 1) {
      const answer = await searchText(words, after);
      hits.push(...answer.hits);
      setFirst({ words, hits: placesOf(hits) });
      after = answer.next;
      if (after === null) break;
    }
    return placesOf(hits);
  };
  const { value, loading } = useFetched(words.length >= SHORTEST && words === typed ? `text ${words}` : null, read, { isVolatile: true });
  const isTyping = typed.length >= SHORTEST && words !== typed;
  return { hits: value ?? (first.words === typed ? first.hits : NO_HITS), busy: isTyping || loading };
}

function placesOf(hits: readonly SearchHit[]): TextHit[] {
  const places = new Map<string, TextHit>();
  for (const { session, kind, parent, title, excerpt } of hits) {
    const isVariant = kind === "variant" && parent !== null;
    if (kind !== "" && !isVariant) continue;
    const id = isVariant ? parent : session;
    const key = `${id} ${excerpt}`;
    if (!places.has(key)) places.set(key, { key, kind: isVariant ? "project" : "session", title: title || texts.untitled, excerpt, href: address(isVariant ? "project" : "session", id) });
  }
  return [...places.values()].slice(0, MOST);
}

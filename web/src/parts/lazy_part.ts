/**
 * Parts of the page that are loaded when they are first shown. A tab from before an upgrade asks for files that the server no
 * longer has: the page is then reloaded, once for each part, and says what is wrong if that did not help.
 */

import { type ComponentType, lazy, type LazyExoticComponent } from "react";
import { lazyPart as texts } from "../texts/parts";
import { ExplainedError } from "./boundary";
import { reloadPage } from "./reload";

const PREFIX = "heald-reloaded:";

/** `name` is the same before and after a reload. */
export function lazyPart<P extends object>(name: string, load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await loadPart(name, load) }));
}

export async function loadPart<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    const part = await load();
    setReloaded(name, false);
    return part;
  } catch (cause) {
    if (!(await isServed())) {
      throw new ExplainedError(texts.thisPartOfThePage, { cause });
    }
    if (isReloaded(name) || !setReloaded(name, true)) {
      throw new ExplainedError(texts.thisPartOfThePageCould, { cause });
    }
    reloadPage();
    return new Promise<T>(() => undefined); // the page is on its way out
  }
}

/** Whether the server has a page to reload: without one the browser would show an error page instead of ours. */
async function isServed(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

function isReloaded(name: string): boolean {
  try {
    return sessionStorage.getItem(PREFIX + name) !== null;
  } catch {
    return true;
  }
}

/** Returns whether the browser remembers it; without that the page might be reloaded for ever. */
function setReloaded(name: string, value: boolean): boolean {
  try {
    if (value) sessionStorage.setItem(PREFIX + name, "1");
    else sessionStorage.removeItem(PREFIX + name);
    return true;
  } catch {
    return false;
  }
}

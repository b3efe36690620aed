/** Whether the tour is open. It opens by itself on a person's first visit, and never again in that browser. */

import { useEffect } from "react";
import { Flag, useFlag } from "../parts/flag";
import { useRecent } from "./listed";

const KEY = "heald-tour";
const SEEN = "seen";
const tour = new Flag();

export function showTour(): void {
  tour.set(true);
}

export function closeTour(): void {
  try {
    localStorage.setItem(KEY, SEEN);
  } catch {
    // The storage is full or switched off: the tour comes again with the next visit.
  }
  tour.set(false);
}

function isNewPerson(): boolean {
  try {
    return localStorage.getItem(KEY) !== SEEN;
  } catch {
    return false;
  }
}

/** Whether the tour is open. Who has projects or conversations already does not see it by itself. */
export function useTour(): boolean {
  const recent = useRecent();
  const isEmpty = recent !== null && recent.projects.length + recent.sessions.length === 0;
  useEffect(() => {
    if (isEmpty && isNewPerson()) tour.set(true);
  }, [isEmpty]);
  return useFlag(tour);
}

/** Dark, light, or as the system has it. */

import { useEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "heald-theme";

export function storedTheme(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export function applyTheme(theme: Theme): void {
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    applyTheme(theme);
    const media = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => applyTheme(theme);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, [theme]);
  return [
    theme,
    (next) => {
      localStorage.setItem(KEY, next);
      setTheme(next);
    },
  ];
}

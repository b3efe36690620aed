import { createContext } from "react";

/** Opens the menu, for views that show its button themselves. */
export const MenuContext = createContext<() => void>(() => undefined);

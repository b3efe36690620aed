/**
 * Names of icons: what `data-tip` of an element says is shown as soon as somebody points at it or reaches it by Tab.
 * The browser shows a `title` after a second only, and never for the keyboard.
 */

const GAP = 6;

/** Show the tips of the page from now on. */
export function showTooltips(): void {
  const box = document.createElement("div");
  box.className = "tooltip";
  box.popover = "manual"; // above dialogs too
  box.setAttribute("aria-hidden", "true"); // its owner has the same words as its name or description
  document.body.append(box);
  let owner: Element | null = null;
  const hide = () => {
    owner = null;
    if (box.matches(":popover-open")) box.hidePopover();
  };
  const show = (target: EventTarget | null) => {
    const next = target instanceof Element ? target.closest("[data-tip]") : null;
    if (next === owner) return;
    hide();
    const words = next?.getAttribute("data-tip") ?? "";
    if (next === null || words === "") return;
    owner = next;
    box.textContent = words;
    box.showPopover();
    place(box, next.getBoundingClientRect());
  };
  document.addEventListener("pointerover", (event) => (event.pointerType === "touch" ? hide() : show(event.target)));
  document.addEventListener("focusin", (event) => (event.target instanceof Element && event.target.matches(":focus-visible") ? show(event.target) : hide()));
  document.documentElement.addEventListener("pointerleave", hide);
  for (const type of ["focusout", "pointerdown", "keydown", "scroll", "hashchange", "blur"]) window.addEventListener(type, hide, true);
}

/** Under its owner, or above it where there is no room, and inside the window. */
function place(box: HTMLElement, owner: DOMRect): void {
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(Math.max(GAP, owner.left + owner.width / 2 - width / 2), innerWidth - width - GAP);
  const below = owner.bottom + GAP;
  const top = below + height > innerHeight ? owner.top - GAP - height : below;
  box.style.translate = `${Math.round(left)}px ${Math.round(top)}px`;
}

import { format } from "./money.js";

/** The sum of a cart, in cents. */
export function total(cart) {
  return (cart.items ?? []).reduce((sum, item) => sum + item.price * item.quantity, 0);
}

export function summary(cart) {
  const sum = format(total(cart));
  const count = (cart.items ?? []).length;
  return `${count} ${count === 1 ? "item" : "items"}, ${sum}`;
}

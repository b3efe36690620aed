import { summary } from "./cart.js";

export function page(visitor) {
  return `<h1>${visitor.name}</h1><p>${summary(visitor.cart)}</p>`;
}

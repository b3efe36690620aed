from referee import node

script = """
import { total, summary } from "./src/cart.js";
import { page } from "./src/page.js";
const cart = { items: [{ price: 250, quantity: 2 }, { price: 99, quantity: 1 }] };
console.log(JSON.stringify([
  total({}), total({ items: [] }), total(cart), summary({}), summary(cart),
  summary({ items: [{ price: 1, quantity: 1 }] }), page({ name: "Guest", cart: {} }),
]));
"""
assert node(script) == '[0,0,599,"0 items, 0.00","2 items, 5.99","1 item, 0.01","<h1>Guest</h1><p>0 items, 0.00</p>"]', node(script)

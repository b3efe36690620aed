/**
 * LaTeX to MathML, which browsers show by themselves. What is not understood stays as it was written. Loaded when math is first shown.
 */

const SPACE = "http://www.w3.org/1998/Math/MathML";

const LETTERS = table(
  "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ imath ı jmath ȷ angle ∠ triangle △ top ⊤ bot ⊥ ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ prime ′ degree °",
);
const SIGNS = table(
  "times × cdot ⋅ div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet ∙ oplus ⊕ otimes ⊗ odot ⊙ cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨ neg ¬ lnot ¬ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ forall ∀ exists ∃ nexists ∄ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ iff ⟺ mapsto ↦ longrightarrow ⟶ uparrow ↑ downarrow ↓ mid ∣ parallel ∥ perp ⊥ vdash ⊢ models ⊨ therefore ∴ because ∵ colon : lt < gt > langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } vert | Vert ‖ backslash \\ { { } } % % $ $ & & _ _ # # | ‖",
);
const BIG = table("sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀");
const ACCENTS = table("hat ^ widehat ^ bar ¯ overline ¯ tilde ~ widetilde ~ vec → dot ˙ ddot ¨ check ˇ overrightarrow → overbrace ⏞");
const GAPS: Readonly<Record<string, string>> = { ",": "0.17em", ":": "0.22em", ";": "0.28em", "!": "-0.17em", " ": "0.25em", quad: "1em", qquad: "2em", "~": "0.25em" };
const FUNCTIONS = new Set("sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp lim limsup liminf max min sup inf det dim ker deg gcd arg Pr mod".split(" "));
const UNDER = new Set("lim limsup liminf max min sup inf det gcd Pr".split(" "));
const FONTS: Readonly<Record<string, string>> = { mathbb: "double-struck", mathcal: "script", mathscr: "script", mathfrak: "fraktur", mathbf: "bold", boldsymbol: "bold", bm: "bold", mathsf: "sans-serif", mathtt: "monospace" };
const MATRICES: Readonly<Record<string, readonly [string, string]>> = { matrix: ["", ""], pmatrix: ["(", ")"], bmatrix: ["[", "]"], Bmatrix: ["{", "}"], vmatrix: ["|", "|"], Vmatrix: ["‖", "‖"], cases: ["{", ""], aligned: ["", ""], align: ["", ""], "align*": ["", ""], gathered: ["", ""], array: ["", ""], split: ["", ""], equation: ["", ""], "equation*": ["", ""], smallmatrix: ["", ""] };

/** The math of a source; null if it is not understood. */
export function toMathMl(source: string, isBlock: boolean): Element | null {
  try {
    const parser = new Parser(source);
    const row = parser.row(null);
    if (!parser.isAtEnd) return null;
    const note = leaf("annotation", source);
    note.setAttribute("encoding", "application/x-tex");
    const math = node("math", node("semantics", row, note));
    if (isBlock) math.setAttribute("display", "block");
    return math;
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

class NotUnderstood extends Error {}

class Parser {
  private at = 0;
  private depth = 0;
  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    this.skipSpace();
    return this.at >= this.text.length;
  }

  /** Everything up to a closing sign, which is not consumed. */
  row(end: string | null): Element {
    if ((this.depth += 1) > 60) throw new NotUnderstood();
    const parts: Element[] = [];
    while (!this.isAtEnd && !(end !== null && this.isNext(end)) && !this.isNext("\\right") && !this.isNext("&") && !this.isNext("\\\\") && !this.isNext("\\end")) parts.push(this.scripted());
    this.depth -= 1;
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : node("mrow", ...parts);
  }

  private scripted(): Element {
    const base = this.atom();
    let below: Element | null = null;
    let above: Element | null = null;
    let primes = "";
    for (; !this.isAtEnd; ) {
      if (this.text[this.at] === "'") {
        this.at += 1;
        primes += "′";
      } else if (this.take("_")) below = this.argument();
      else if (this.take("^")) above = this.argument();
      else if (this.isNext("\\limits")) this.at += 7;
      else if (this.isNext("\\nolimits")) this.at += 9;
      else break;
    }
    if (primes !== "") above = above === null ? leaf("mo", primes) : node("mrow", leaf("mo", primes), above);
    const isStacked = base.hasAttribute("data-stacked");
    base.removeAttribute("data-stacked");
    if (below !== null && above !== null) return node(isStacked ? "munderover" : "msubsup", base, below, above);
    if (below !== null) return node(isStacked ? "munder" : "msub", base, below);
    if (above !== null) return node(isStacked ? "mover" : "msup", base, above);
    return base;
  }

  private argument(): Element {
    this.skipSpace();
    if (this.take("{")) return this.group();
    return this.atom();
  }

  private group(): Element {
    const row = this.row("}");
    this.expect("}");
    return row.localName === "mrow" ? row : node("mrow", row);
  }

  private atom(): Element {
    this.skipSpace();
    const rest = this.text.slice(this.at);
    const number = /^\d+(?:[.,]\d+)*/.exec(rest)?.[0];
    if (number !== undefined) {
      this.at += number.length;
      return leaf("mn", number);
    }
    const character = [...rest.slice(0, 2)][0] ?? "";
    if (character === "\\") return this.command();
    if (character === "{") {
      this.at += 1;
      return this.group();
    }
    if (character === "}" || character === "" || character === "^" || character === "_" || character === "$") throw new NotUnderstood();
    this.at += character.length;
    if (/\p{L}/u.test(character)) return leaf("mi", character);
    return leaf("mo", character === "-" ? "−" : character === "*" ? "∗" : character === "~" ? " " : character);
  }

  private command(): Element {
    const name = /^\\([a-zA-Z]+\*?|[\s\S])/.exec(this.text.slice(this.at))?.[1];
    if (name === undefined) throw new NotUnderstood();
    this.at += name.length + 1;
    const big = BIG.get(name);
    if (big !== undefined) {
      const sign = leaf("mo", big);
      if (!name.includes("int")) sign.setAttribute("data-stacked", "");
      return sign;
    }
    const letter = LETTERS.get(name);
    if (letter !== undefined) return leaf("mi", letter);
    const sign = SIGNS.get(name);
    if (sign !== undefined) return leaf("mo", sign);
    const gap = GAPS[name];
    if (gap !== undefined) {
      const space = node("mspace");
      space.setAttribute("width", gap);
      return space;
    }
    if (FUNCTIONS.has(name)) {
      const word = leaf("mi", name);
      if (UNDER.has(name)) word.setAttribute("data-stacked", "");
      return word;
    }
    const accent = ACCENTS.get(name);
    if (accent !== undefined) {
      const over = node("mover", this.argument(), leaf("mo", accent));
      over.setAttribute("accent", "true");
      return over;
    }
    const font = FONTS[name];
    if (font !== undefined) return inFont(this.argument(), font);
    switch (name) {
      case "frac":
      case "dfrac":
      case "tfrac":
      case "cfrac":
        return node("mfrac", this.argument(), this.argument());
      case "binom": {
        const fraction = node("mfrac", this.argument(), this.argument());
        fraction.setAttribute("linethickness", "0");
        return node("mrow", leaf("mo", "("), fraction, leaf("mo", ")"));
      }
      case "sqrt": {
        const degree = this.take("[") ? this.row("]") : null;
        if (degree !== null) this.expect("]");
        return degree === null ? node("msqrt", this.argument()) : node("mroot", this.argument(), degree);
      }
      case "text":
      case "textbf":
      case "textit":
      case "textrm":
      case "mathrm":
      case "mathit":
      case "operatorname":
      case "operatorname*":
        return this.words(name.startsWith("text") ? "mtext" : "mi");
      case "underline":
      case "underbrace":
        return node("munder", this.argument(), leaf("mo", name === "underline" ? "_" : "⏟"));
      case "overset":
      case "stackrel": {
        const above = this.argument();
        return node("mover", this.argument(), above);
      }
      case "underset": {
        const below = this.argument();
        return node("munder", this.argument(), below);
      }
      case "left":
        return this.fenced();
      case "big":
      case "Big":
      case "bigg":
      case "Bigg":
      case "bigl":
      case "bigr":
      case "Bigl":
      case "Bigr":
      case "displaystyle":
      case "textstyle":
      case "tag":
        return name === "tag" ? node("mrow", leaf("mspace", ""), this.words("mtext")) : node("mrow");
      case "begin":
        return this.environment();
      default:
        throw new NotUnderstood();
    }
  }

  /** Words in braces, as they are written. */
  private words(kind: "mi" | "mtext"): Element {
    const words = /^\s*\{([^{}]*)\}/.exec(this.text.slice(this.at));
    if (words === null) throw new NotUnderstood();
    this.at += words[0].length;
    return leaf(kind, (words[1] ?? "").replace(/ /g, " "));
  }

  private fence(): string {
    this.skipSpace();
    const fence = /^(?:\\([a-zA-Z]+|[{}|])|[\s\S])/.exec(this.text.slice(this.at));
    if (fence === null) throw new NotUnderstood();
    this.at += fence[0].length;
    const sign = fence[1] === undefined ? fence[0] : SIGNS.get(fence[1]);
    if (sign === undefined) throw new NotUnderstood();
    return sign === "." ? "" : sign;
  }

  private fenced(): Element {
    const open = this.fence();
    const inner = this.row(null);
    if (!this.isNext("\\right")) throw new NotUnderstood();
    this.at += 6;
    return node("mrow", leaf("mo", open), inner, leaf("mo", this.fence()));
  }

  private environment(): Element {
    const name = /^\s*\{([a-zA-Z]+\*?)\}/.exec(this.text.slice(this.at));
    const fences = MATRICES[name?.[1] ?? ""];
    if (name === null || fences === undefined) throw new NotUnderstood();
    this.at += name[0].length;
    if (name[1] === "array") this.at += /^\s*\{[^{}]*\}/.exec(this.text.slice(this.at))?.[0].length ?? 0;
    const rows: Element[] = [];
    let cells: Element[] = [];
    for (;;) {
      cells.push(node("mtd", this.row(null)));
      if (this.take("&")) continue;
      rows.push(node("mtr", ...cells));
      cells = [];
      if (!this.take("\\\\")) break;
      if (this.isNext("\\end")) break;
    }
    const end = `\\end{${name[1]}}`;
    if (!this.isNext(end)) throw new NotUnderstood();
    this.at += end.length;
    const grid = node("mtable", ...rows);
    if (/^(?:cases|align|aligned|split)/.test(name[1] ?? "")) grid.setAttribute("class", "math-left");
    const [open, close] = fences;
    return open === "" ? grid : node("mrow", leaf("mo", open), grid, leaf("mo", close));
  }

  private isNext(sign: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(sign, this.at)) return false;
    return !/^\\[a-z]+$/.test(sign) || !/[a-zA-Z]/.test(this.text[this.at + sign.length] ?? "");
  }

  private take(sign: string): boolean {
    if (!this.isNext(sign)) return false;
    this.at += sign.length;
    return true;
  }

  private expect(sign: string): void {
    if (!this.take(sign)) throw new NotUnderstood();
  }

  private skipSpace(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at += 1;
  }
}

function inFont(element: Element, font: string): Element {
  for (const letter of [element, ...element.querySelectorAll("*")]) {
    if (letter.localName !== "mi" && letter.localName !== "mn") continue;
    if (font === "bold") letter.setAttribute("class", "math-bold");
    else letter.textContent = [...(letter.textContent ?? "")].map((character) => styled(character, font)).join("");
  }
  return element;
}

const STARTS: Readonly<Record<string, readonly [number, number]>> = { "double-struck": [0x1d538, 0x1d552], script: [0x1d49c, 0x1d4b6], fraktur: [0x1d504, 0x1d51e], "sans-serif": [0x1d5a0, 0x1d5ba], monospace: [0x1d670, 0x1d68a] };
/** Letters that were in Unicode before the others of their kind. */
const EARLIER: Readonly<Record<string, string>> = { "double-struckC": "ℂ", "double-struckH": "ℍ", "double-struckN": "ℕ", "double-struckP": "ℙ", "double-struckQ": "ℚ", "double-struckR": "ℝ", "double-struckZ": "ℤ", scriptB: "ℬ", scriptE: "ℰ", scriptF: "ℱ", scriptH: "ℋ", scriptI: "ℐ", scriptL: "ℒ", scriptM: "ℳ", scriptR: "ℛ", scripte: "ℯ", scriptg: "ℊ", scripto: "ℴ", frakturC: "ℭ", frakturH: "ℌ", frakturI: "ℑ", frakturR: "ℜ", frakturZ: "ℨ" };

function styled(character: string, font: string): string {
  const earlier = EARLIER[font + character];
  if (earlier !== undefined) return earlier;
  const [upper, lower] = STARTS[font] ?? [0, 0];
  if (/^[A-Z]$/.test(character)) return String.fromCodePoint(upper + character.charCodeAt(0) - 65);
  return /^[a-z]$/.test(character) ? String.fromCodePoint(lower + character.charCodeAt(0) - 97) : character;
}

function node(name: string, ...children: Element[]): Element {
  const element = document.createElementNS(SPACE, name);
  element.append(...children);
  return element;
}

function leaf(name: string, text: string): Element {
  const element = node(name);
  element.textContent = text;
  return element;
}

function table(text: string): ReadonlyMap<string, string> {
  const parts = text.split(" ");
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ""] as const] : [])));
}

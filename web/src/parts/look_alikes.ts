/** Characters that look like others, as in packages/core/src/heald/tools/look_alikes.py. */

import { lookAlikes as texts } from "../texts/parts";

const MOST_NAMED = 6;
/** Latin letters, each with the code points that look like it. */
const LETTERS =
  "a 0430 03b1 0251,c 0441 217d,d 0501 217e,e 0435,g 0261 0581,h 04bb 0570,i 0456 03b9 0131 0269 2170,j 0458," +
  "k 043a 03ba,l 04cf 217c 2113,m 217f,n 0578,o 043e 03bf 0585,p 0440 03c1,q 051b 0566,s 0455,t 03c4," +
  "u 03c5 057d,v 03bd 2174,w 051d,x 0445 03c7 2179,y 0443 03b3," +
  "A 0410 0391 13aa,B 0412 0392 13f4,C 0421 13df,E 0415 0395 13ac,H 041d 0397 13bb,I 0406 0399,J 0408 13ab," +
  "K 041a 039a 13e6,L 13de,M 041c 039c 13b7,N 039d,O 041e 039f,P 0420 03a1 13e2,R 13a1,S 0405 13da,T 0422 03a4 13a2," +
  "V 13d9,W 13b3,X 0425 03a7,Y 0423 03a5,Z 0396 13c3";
const SIGNS =
  "/ 2044 2215 29f8,. 2024 3002 ff61,: 2236 02d0 a789,; 037e,| 01c0 2223 2758,! 01c3,\\ 2216 29f5,~ 223c,* 2217 204e," +
  "` 2035,> 203a 276f,< 2039 276e,& fe60,$ fe69";
const LATIN_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ASCII = /^[\u0000-\u007f]*$/;
const WORD = /[\p{L}\p{N}_.-]+/gu;
const LATIN = /[A-Za-z]/;
const LETTER = /^\p{L}$/u;
const CYRILLIC = /^[\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f]$/;
const WIDE = /^[\uff01-\uff5e]$/;
const DASH = /(?<![^ \t\n])[\u2010-\u2015\u2212\ufe58\ufe63](?=[^ \t\n])/g;
const LETTER_OF = readTable(LETTERS);
const SIGN_OF = readTable(SIGNS);
const SIGN_CLASS = `[\\uff01-\\uff5e${[...SIGN_OF.keys()].join("")}]`;
const SIGN = new RegExp(`(?<=[A-Za-z0-9/._~$-])${SIGN_CLASS}|${SIGN_CLASS}(?=[A-Za-z0-9/._~$-])`, "g");

function readTable(table: string): Map<string, string> {
  return new Map(
    table.split(",").flatMap((entry) => {
      const [sign = "", ...codes] = entry.split(" ");
      return codes.map((code): [string, string] => [String.fromCodePoint(parseInt(code, 16)), sign]);
    }),
  );
}

/** A note about letters that look like Latin ones in a word, and in a command about signs; else nothing. */
export function describeLookAlikes(text: string, isCommand = false): string {
  if (ASCII.test(text)) return "";
  const characters = [...new Set([...lettersOf(text, isCommand), ...(isCommand ? signsOf(text) : [])])];
  if (characters.length === 0) return "";
  const more = characters.length > MOST_NAMED ? texts.andMore(characters.length - MOST_NAMED) : "";
  return texts.containsLookAlikeCharacters(characters.slice(0, MOST_NAMED).map(describe).join(", "), more);
}

function lettersOf(text: string, isCommand: boolean): string[] {
  const letters: string[] = [];
  for (const word of text.match(WORD) ?? []) {
    if (ASCII.test(word)) continue;
    for (const label of word.split(/[.\-_]+/).filter((part) => part !== "")) {
      const characters = Array.from(label);
      const imitates =
        characters.every((character) => ASCII.test(character) || !LETTER.test(character) || asciiOf(character) !== "") &&
        (LATIN.test(word) || isCommand);
      if (LATIN.test(label) || imitates) {
        letters.push(...characters.filter((character) => asciiOf(character) !== "" || CYRILLIC.test(character)));
      }
    }
  }
  return letters;
}

/** The signs beside ASCII: between other letters they are the punctuation of another language. */
function signsOf(text: string): string[] {
  return [...(text.match(SIGN) ?? []), ...(text.match(DASH) ?? [])];
}

/** The ASCII letter or digit that a character looks like; empty if it is ASCII, or looks like none. */
function asciiOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xff10 && code <= 0xff5a) {
    const narrow = String.fromCodePoint(code - 0xfee0);
    if (/[0-9A-Za-z]/.test(narrow)) return narrow;
  }
  if (code >= 0x1d400 && code <= 0x1d6a3) return LATIN_LETTERS.charAt((code - 0x1d400) % 52);
  if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
  return LETTER_OF.get(character) ?? "";
}

function describe(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const name = code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  const wide = WIDE.test(character) ? String.fromCodePoint(code - 0xfee0) : "";
  const ascii = wide || asciiOf(character) || (SIGN_OF.get(character) ?? "");
  if (ascii !== "") return texts.looksLike(character, name, ascii);
  return CYRILLIC.test(character) ? texts.isCyrillic(character, name) : texts.isNot(character, name);
}

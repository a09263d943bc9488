/**
 * Finds the token inside an address, in a text that is read piece by piece (behaviour 2.1, B.5): who follows such an
 * address, a reader or an agent, would hand the token to whoever it leads to.
 *
 * An address is wider here than in any one grammar, because readers differ: whatever a Markdown renderer, a browser, a
 * shell or a model may take as one. So a word (up to a blank or an angle bracket) that holds the token is refused where
 * something of an address stands before the token, or a host after it; and so is a token in a tag's link.
 */

/** Stands for the token while a text is examined: a private-use character, which no text needs. */
export const tokenMark = "\uE000";
/** Stands for the account's own URL: an address like any other, but one that a delimiter directly behind it ends. */
export const ownUrlMark = "\uE001";

/** Where a text read so far ends. */
export interface Spot {
  /** The word under way. */
  readonly word: string;
  /** What stands since an angle bracket that is still open; null outside of one. */
  readonly angle: Angle | null;
}

interface Angle {
  /** Its first characters: `<https://a b>` is a destination in Markdown, blanks included. */
  readonly head: string;
  readonly tail: string;
  /** An attribute that holds an address was seen. */
  readonly link: boolean;
  /** The quote of an attribute's value that is still open, or "". */
  readonly quote: string;
}

export const textStart: Spot = { word: "", angle: null };

/**
 * Reads on. `exposed` is true where a token mark stands inside an address, taking the text to end here: `T"@` is a
 * mailbox that `",` behind it would have made a quoted part. Every rendered prompt passes here, whole.
 */
export function readOn(from: Spot, text: string): { spot: Spot; exposed: boolean } {
  let { word, angle } = from;
  let wordStart = 0;
  let marked = word.includes(tokenMark);
  let exposed = false;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : textEnd;
    if (code > highestSeparator) marked ||= code === markCode;
    if (code > highestSeparator || !separators.has(code)) continue;
    // Most words are neither in an angle nor near the token: they are only passed by.
    if (angle || marked || code === textEnd) {
      const piece = text.slice(wordStart, at);
      word += piece;
      if (angle && piece !== "") angle = readAngle(angle, piece);
      if (marked) exposed ||= isAddress(word) || (angle !== null && isLink(angle));
    }
    if (code === textEnd) break;
    if (angle) angle = readAngle(angle, text.charAt(at));
    else if (code === openingCode) angle = openAngle;
    word = "";
    marked = false;
    wordStart = at + 1;
  }
  return { spot: { word: shortened(word), angle }, exposed };
}

const textEnd = -1;
const markCode = tokenMark.charCodeAt(0);
const openingCode = "<".charCodeAt(0);
const highestSeparator = ">".charCodeAt(0);
const separators = new Set([textEnd, ...Array.from("\t\n\v\f\r <>", (character) => character.charCodeAt(0))]);

/** Whether `token` stands inside an address anywhere in the `text` of an account with this URL. */
export function exposesToken(text: string, token: string, ownUrl: string): boolean {
  if (token === "" || !text.includes(token)) return false;
  const marked = text.replaceAll(token, tokenMark);
  return readOn(textStart, ownUrl === "" ? marked : marked.replaceAll(ownUrl, ownUrlMark)).exposed;
}

/** Whether what is printed next would stand inside an address. */
export function isInAddress({ word, angle }: Spot): boolean {
  return isAddress(word + tokenMark) || (angle !== null && isLink(angle));
}

const schemes =
  "https?|wss?|ftps?|sftp|ssh|git|file|data|blob|javascript|vbscript|mailto|sms|tel|view-source|ldaps?|gopher";
/** What makes the rest of a word an address: a slash, a query, a user's `@`, a fragment, an entity that may be any of these, a scheme. */
const before = new RegExp(
  String.raw`[/?@${ownUrlMark}]|\w#|\\[/:.\\](?!["'])|&#?\w+;|(?:^|[^a-z0-9])(?:${schemes}):|(?:^|\W)www\.`,
  "i",
);
/** A mailbox or a host that the token begins. */
const after = new RegExp(String.raw`${tokenMark}[^${tokenMark}]*@|${tokenMark}\.[\w${ownUrlMark}-]`);

function isAddress(word: string): boolean {
  if (!holdsAddress(word)) return false;
  const rest = behindOwnUrl(word);
  return rest === word || !plain.test(withoutEscapes(rest)) || holdsAddress(rest);
}

const ownUrlEnd = new RegExp(String.raw`${ownUrlMark}[|,;)\]"'\x60]`, "g");
const ownUrlStart = /(?:^|["'`([{|,;=])$/;
/**
 * Nothing that could make a longer host of the own URL's: whoever takes `https://own,T.evil.com` as one address is led
 * to evil.com, and so with a dot that is written otherwise. Behind a slash no host goes on.
 */
const plain = new RegExp(
  String.raw`^[\p{L}\p{M}\w|,;:()[\]{}"'\x60=*${tokenMark}-]*\.*(?:[/?#${ownUrlMark}].*)?$`,
  "su",
);

/** What follows the account's own URL where that stands alone, with a delimiter behind it; else the word itself. */
function behindOwnUrl(word: string): string {
  let start = 0;
  for (const { index } of word.matchAll(ownUrlEnd)) {
    const head = word.slice(start, index);
    if (!ownUrlStart.test(head) || head.includes(tokenMark) || before.test(withoutQuotedParts(head))) break;
    // A Markdown link has it all as its address up to the bracket.
    if (head.endsWith("](") && word[index + 1] !== ")") break;
    start = index + 2;
  }
  return word.slice(start);
}

function holdsAddress(word: string): boolean {
  const bare = withoutQuotedParts(word);
  const at = bare.lastIndexOf(tokenMark);
  return at >= 0 && (before.test(bare.slice(0, at)) || after.test(bare));
}

/** `{"url":"https://x","token":"` is compact JSON: a quoted part that a separator ends is a value of its own. */
function withoutQuotedParts(word: string): string {
  if (!/["'`]/.test(word)) return word;
  return withoutEscapes(word).replaceAll(/(["'`])(?:(?!\1)[^\uE000])*\1(?=[,:;)}\]])/g, "");
}

function withoutEscapes(word: string): string {
  return word.replaceAll(/\\(?=["'`])/g, "");
}

const longestWord = 300;

/** The end of a very long word, which stays an address where it is one: else a text without blanks is read again and again. */
function shortened(word: string): string {
  if (word.length <= longestWord) return word;
  const bare = withoutQuotedParts(word);
  if (bare.length <= longestWord) return bare;
  if (!before.test(bare)) return bare.slice(-64);
  const rest = behindOwnUrl(bare);
  if (rest === bare) return `/${bare.slice(-64)}`;
  return `${ownUrlMark}|${plain.test(rest) && !before.test(rest) ? "" : "/"}${rest.slice(-64)}`;
}

const openAngle: Angle = { head: "", tail: "", link: false, quote: "" };
const headLength = 40;
const linkStart = new RegExp(String.raw`^\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2}|[&${ownUrlMark}])`, "i");
const linkAttribute =
  /[\s"'/](?:href|xlink:href|src|srcset|srcdoc|style|action|formaction|data|poster|background|cite|ping|content|manifest|icon|on\w+)\s*=/i;

function isLink({ head, link }: Angle): boolean {
  return link || linkStart.test(head);
}

/** The angle after one more piece: null where a `>` outside of an attribute's quotes closed it. */
function readAngle(angle: Angle, piece: string): Angle | null {
  if (angle.quote === "") {
    if (piece === ">") return null;
    // What opens last counts: the one before was a less-than sign or `<<EOF`.
    if (piece === "<") return openAngle;
    // A destination ends with its line; a tag goes on.
    if (piece === "\n" && !angle.link && linkStart.test(angle.head)) return null;
  }
  const text = angle.tail + piece;
  return {
    head: angle.head.length < headLength ? (angle.head + piece).slice(0, headLength) : angle.head,
    tail: text.slice(-headLength),
    link: angle.link || linkAttribute.test(text),
    quote: quoteAfter(angle, piece),
  };
}

/** A quote opens a value only where it follows the `=`: an apostrophe in a text opens nothing. */
function quoteAfter({ quote, tail }: Angle, piece: string): string {
  let open = quote;
  let afterEquals = tail.trimEnd().endsWith("=");
  for (const character of piece) {
    if (open !== "") {
      if (character === open) open = "";
    } else if (afterEquals && (character === '"' || character === "'")) open = character;
    if (character.trim() !== "") afterEquals = character === "=";
  }
  return open;
}

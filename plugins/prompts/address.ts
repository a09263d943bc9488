/**
 * Finds the token inside an address, in a text that is read piece by piece (behaviour 2.1, B.5). A reader or an agent
 * who follows such an address would hand the token to a third party.
 *
 * Readers differ, so an address is anything that a Markdown renderer, a browser, a shell or a model may take for one.
 * This is wider than any single grammar. A word (up to a blank or an angle bracket) that contains the token is refused
 * if part of an address precedes the token or a host follows it. A token in a tag's link is refused as well.
 */

/** Stands for the token while a text is examined. It is a private-use character, which no text needs. */
export const tokenMark = "\uE000";
/** Stands for the account's own URL: an address like any other, except that a delimiter directly after it ends it. */
export const ownUrlMark = "\uE001";

/** The state at the end of the text that has been read so far. */
export interface TextState {
  /** The current, unfinished word. */
  readonly word: string;
  /** The state since an angle bracket that is still open; null outside of one. */
  readonly angle: Angle | null;
}

interface Angle {
  /** Its first characters: `<https://a b>` is a destination in Markdown, blanks included. */
  readonly head: string;
  readonly tail: string;
  /** Whether an attribute that holds an address was seen. */
  readonly link: boolean;
  /** The quote of an attribute's value that is still open, or "" if none is. */
  readonly quote: string;
}

export const textStart: TextState = { word: "", angle: null };

/**
 * Reads the next piece. `exposed` says whether a token mark is inside an address if the text ends here: `T"@` is a
 * mailbox, although a following `",` would have made it a quoted part. Every rendered prompt passes through here.
 */
export function readOn(from: TextState, text: string): { spot: TextState; exposed: boolean } {
  let { word, angle } = from;
  let wordStart = 0;
  let marked = word.includes(tokenMark);
  let exposed = false;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : textEnd;
    if (code > highestSeparator) marked ||= code === markCode;
    if (code > highestSeparator || !separators.has(code)) continue;
    // Most words are neither in an angle bracket nor near the token, so they are skipped.
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

/** Whether `token` is inside an address anywhere in `text`, for an account with this URL. */
export function exposesToken(text: string, token: string, ownUrl: string): boolean {
  if (token === "" || !text.includes(token)) return false;
  const marked = text.replaceAll(token, tokenMark);
  return readOn(textStart, ownUrl === "" ? marked : marked.replaceAll(ownUrl, ownUrlMark)).exposed;
}

/** Whether what is printed next would be inside an address. */
export function isInAddress({ word, angle }: TextState): boolean {
  return isAddress(word + tokenMark) || (angle !== null && isLink(angle));
}

const schemes =
  "https?|wss?|ftps?|sftp|ssh|git|file|data|blob|javascript|vbscript|mailto|sms|tel|view-source|ldaps?|gopher";
/** Makes the rest of a word an address: a slash, `?`, `@`, `#`, an entity that may stand for one of these, a scheme. */
const before = new RegExp(
  String.raw`[/?@${ownUrlMark}]|\w#|\\[/:.\\](?!["'])|&#?\w+;|(?:^|[^a-z0-9])(?:${schemes}):|(?:^|\W)www\.`,
  "i",
);
/** A mailbox or a host that begins with the token. */
const after = new RegExp(String.raw`${tokenMark}[^${tokenMark}]*@|${tokenMark}\.[\w${ownUrlMark}-]`);

function isAddress(word: string): boolean {
  if (!holdsAddress(word)) return false;
  const rest = behindOwnUrl(word);
  return rest === word || !plain.test(withoutEscapes(rest)) || holdsAddress(rest);
}

const ownUrlEnd = new RegExp(String.raw`${ownUrlMark}[|,;)\]"'\x60]`, "g");
const ownUrlStart = /(?:^|["'`([{|,;=])$/;
/**
 * Excludes everything that could turn the own URL's host into a longer one: a reader who takes `https://own,T.evil.com`
 * for one address goes to evil.com, and a dot can be written in other ways. After a slash the host has ended.
 */
const plain = new RegExp(
  String.raw`^[\p{L}\p{M}\w|,;:()[\]{}"'\x60=*${tokenMark}-]*\.*(?:[/?#${ownUrlMark}].*)?$`,
  "su",
);

/** The part after the account's own URL if a delimiter follows it directly; else the whole word. */
function behindOwnUrl(word: string): string {
  let start = 0;
  for (const { index } of word.matchAll(ownUrlEnd)) {
    const head = word.slice(start, index);
    if (!ownUrlStart.test(head) || head.includes(tokenMark) || before.test(withoutQuotedParts(head))) break;
    // In a Markdown link everything up to the bracket is the address.
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

/** In compact JSON, `{"url":"https://x","token":"`, a quoted part that a separator follows is a separate value. */
function withoutQuotedParts(word: string): string {
  if (!/["'`]/.test(word)) return word;
  return withoutEscapes(word).replaceAll(/(["'`])(?:(?!\1)[^\uE000])*\1(?=[,:;)}\]])/g, "");
}

function withoutEscapes(word: string): string {
  return word.replaceAll(/\\(?=["'`])/g, "");
}

const longestWord = 300;

/**
 * Keeps only the end of a very long word, and whether it is an address. Otherwise a text without blanks is reread for
 * every piece.
 */
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

/** The angle bracket after one more piece; null if a `>` outside of an attribute's quotes has closed it. */
function readAngle(angle: Angle, piece: string): Angle | null {
  if (angle.quote === "") {
    if (piece === ">") return null;
    // The last one counts: an earlier one was a less-than sign or `<<EOF`.
    if (piece === "<") return openAngle;
    // A destination ends with its line; a tag can continue.
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

/** A quote opens a value only after `=`. An apostrophe in a text opens nothing. */
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

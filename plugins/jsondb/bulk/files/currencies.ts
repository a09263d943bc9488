/** Currencies as amounts name them: by a sign or by their code. Pure. */

const signs: ReadonlyMap<string, string> = new Map([
  ["€", "EUR"],
  ["$", "USD"],
  ["US$", "USD"],
  ["£", "GBP"],
  ["zł", "PLN"],
  ["zl", "PLN"],
  ["Kč", "CZK"],
  ["Ft", "HUF"],
  ["Fr.", "CHF"],
  ["¥", "JPY"],
  ["₴", "UAH"],
  ["₹", "INR"],
  ["₺", "TRY"],
  ["₩", "KRW"],
  ["₪", "ILS"],
]);
const lowerSigns = new Map([...signs].map(([sign, code]) => [sign.toLowerCase(), code]));
const codes = new Set(Intl.supportedValuesOf("currency"));
const longestMark = 4;

export function isCurrency(code: string): boolean {
  return codes.has(code);
}

/** The code of a sign or code; undefined for any other word. */
export function currencyOf(mark: string): string | undefined {
  const upper = mark.toUpperCase();
  return lowerSigns.get(mark.toLowerCase()) ?? (codes.has(upper) ? upper : undefined);
}

/** The currency that an amount names before or after its digits. */
export function currencyIn(text: string): string | undefined {
  return marksOf(text)
    .map(currencyOf)
    .find((code) => code !== undefined);
}

/** The amount without the mark of this currency; the same text if it has none. */
export function withoutCurrency(text: string, code: string): string {
  const [before, after] = marksOf(text);
  if (before !== "" && currencyOf(before) === code) {
    const at = text.indexOf(before);
    return `${text.slice(0, at)}${text.slice(at + before.length).trimStart()}`;
  }
  if (after !== "" && currencyOf(after) === code) return text.slice(0, text.lastIndexOf(after)).trimEnd();
  return text;
}

/** The words before the first and after the last digit. */
function marksOf(text: string): readonly [string, string] {
  let first = 0;
  while (first < text.length && !isDigit(text.charCodeAt(first))) first += 1;
  let last = text.length;
  while (last > first && !isDigit(text.charCodeAt(last - 1))) last -= 1;
  return [wordOf(text.slice(0, first)), wordOf(text.slice(last))];
}

function wordOf(text: string): string {
  const word = text.replaceAll(/[-+()\u2212\s]/g, "").replace(/^[.,]/, "");
  return word.length <= longestMark ? word : "";
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

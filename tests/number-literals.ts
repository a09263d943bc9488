/** Numbers as JSON may write them, and their exact values. */
import fc from "fast-check";

/** Numbers as JSON may write them, of up to 40 digits. */
const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
export const numberLiteral = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(digits(40), fc.constantFrom("0", "9007199254740993", "7615917337495251231")),
    fraction: fc.option(digits(30), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -420, max: 240 }), { nil: undefined }),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      `${sign}${whole.replace(/^0+(?=\d)/, "")}${fraction === undefined ? "" : `.${fraction}`}${exponent === undefined ? "" : `e${exponent}`}`,
  );

/** The value times 10^1000: two literals of one number have the same. */
export function valueOf(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return `${BigInt(whole + fraction || "0") * 10n ** BigInt(1_000 + Number(exponent) - fraction.length)}`;
}

/** The exact values of the list `key` in a JSON text, however it is printed. */
export function valuesIn(text: string, key: string): string[] {
  const list = new RegExp(`"${key}":\\s*\\[([^\\]]*)\\]`).exec(text.replaceAll('\\"', '"'))?.[1];
  if (list === undefined) throw new Error(`there is no list ${key} in ${text.slice(0, 500)}`);
  return list.split(",").map((one) => valueOf(one.trim()));
}

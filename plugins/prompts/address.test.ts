import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exposesToken, readOn, textStart, tokenMark, type Spot } from "./address.ts";

const token = "core_secret";
const told = (text: string) => exposesToken(text.replaceAll("T", token), token);

describe("a token in a text", () => {
  // `T` stands for the token.
  const exposed = [
    "https://x/T",
    "http://x?a=T",
    "HTTPS://X/T",
    "http:T",
    "https:\\evil\\T",
    "//evil/T",
    "(see //evil/T)",
    "https://T.evil.com",
    "https://user:T@evil",
    "[x](https://x/T)",
    "![x](https://x/T)",
    "[x](/path/T)",
    "[x](<https://x/a b T>)",
    "[x](<//x/ T>)",
    "[x]: https&colon;&sol;&sol;evil&sol;T",
    "[x](https&#58;&#47;&#47;evil&#47;T)",
    "https\\://evil/T",
    '<a href="https://x/T">',
    "<a href=T>",
    '<img src="//evil/ T">',
    "<img alt='>' src='//evil T'>",
    '<a\nhref = "x T">',
    '<p style="background: url(//evil/ T)">',
    "<x onclick='f(T)'>",
    "evil.com/T",
    "evil.com?T",
    "evil.com#T",
    "www.T.evil.com",
    "ping T.evil.com",
    "mailto:a?body=T",
    "T@evil.com",
    "T+x@evil.com",
    "javascript:T",
    "data:text/html,T",
    '"https://evil/"T',
    "https://evil/(T",
    "https://evil/\u00a0T",
    "https://evil/\u200bT",
    '{"url":"https://evil/T"}',
    `https://evil/${"x".repeat(5000)}T`,
    "ok T and https://x/T",
  ];
  test.each(exposed)("%p: it stands inside an address", (text) => expect(told(text)).toBe(true));

  const safe = [
    "T",
    "Authorization: Bearer T",
    "Bearer:T",
    "**T**",
    "`T`.",
    "T.\nThen",
    "token=T",
    "export TOKEN=T; curl https://x/",
    'curl https://x/y -H "Authorization: Bearer T"',
    "https://x\nT",
    "https://x/ T",
    "<https://x/> T",
    "[x](https://x/) T",
    '{"url":"https://x","token":"T"}',
    '-d "{\\"url\\":\\"https://x\\",\\"token\\":\\"T\\"}"',
    "<token>T</token>",
    "PATCH <id> with T",
    'a <b and c="d" T',
    "cat <<EOF https://x T\nEOF",
    "no token at https://x/",
  ];
  test.each(safe)("%p: it does not", (text) => expect(told(text)).toBe(false));

  test("is found wherever the text is cut into pieces", () => {
    const pieces = fc.array(
      fc.constantFrom(
        "https://x",
        "/",
        " ",
        "<",
        ">",
        '"',
        "=",
        "href",
        "T",
        "a",
        "\n",
        "@",
        ".",
        "[x](",
        ")",
        "'",
        ",",
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        // A text that goes on may close a quote behind the token: what was an address until then stays refused.
        let sofar = "";
        let exposedSoFar = false;
        let spot: Spot = textStart;
        let exposedInPieces = false;
        for (const part of parts) {
          const piece = part.replaceAll("T", tokenMark);
          sofar += piece;
          exposedSoFar ||= readOn(textStart, sofar).exposed;
          const read = readOn(spot, piece);
          exposedInPieces ||= read.exposed;
          ({ spot } = read);
        }
        expect(exposedInPieces).toBe(exposedSoFar);
      }),
      { numRuns: 3000, examples: [[["T", '"', "@", '"', ","]]] },
    );
  });

  test("is always found behind an address, and never where there is nothing of one", () => {
    const word = fc.stringMatching(/^[a-z0-9,;!*_"'()=&%-]{0,20}$/);
    fc.assert(fc.property(word, (middle) => expect(told(`https://x/${middle}T`)).toBe(true)));
    const plain = fc.stringMatching(/^[a-z0-9 ,;!*_()="\n-]{0,60}$/);
    fc.assert(fc.property(plain, plain, (a, b) => expect(told(`${a}T${b}`)).toBe(false)));
  });

  test("is looked for in a time that does not explode", () => {
    for (const piece of ["a", "<", "<a b=", '"', "'\"`", "\\", "T", "T ", "&", "&a", "/on", "<a on", '="', "x<y "])
      told(piece.repeat(200_000 / piece.length));
  });
});

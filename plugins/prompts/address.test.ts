import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exposesToken, ownUrlMark, readOn, textStart, tokenMark, type TextState } from "./address.ts";

const token = "core_secret";
const ownUrl = "https://own.example.com";
const told = (text: string) => exposesToken(text.replaceAll("T", token).replaceAll("OWN", ownUrl), token, ownUrl);

describe("a token in a text", () => {
  // `T` stands for the token, `OWN` for the account's own URL.
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
    "OWN/x?t=T",
    "OWN?T",
    "OWN#T",
    "OWN:T",
    "OWNT",
    "OWN.T",
    "OWN.evil.com/T",
    "OWN.evil.com|T",
    "OWN@evil/T",
    "OWN/|T",
    "OWN|x/T",
    "OWN|T@evil",
    "OWN|T.evil.com",
    "OWN|https://evil/T",
    "OWN|www.evil.com|T",
    "OWN|javascript:T",
    "OWN,Tx.evil.com",
    "OWN,Tx%2eevil%2ecom",
    "OWN,Tx\u3002evil\u3002com",
    "OWN,T&period;evil&period;com",
    "OWN,x.evil.com\\T",
    'OWN|T",.evil.com"',
    "https://evil/OWN|T",
    "https://evil|OWN|T",
    "evil.comOWN|T",
    "evil.com\\OWN|T",
    "evil.com:OWN|T",
    "x@OWN|T",
    "T|OWN|x@evil",
    "[x](https://evil?u=OWN)T",
    "[x](https://evil/(OWN)T",
    "[x](<https://evil/ OWN|T>)",
    "<OWN|T>",
    "[x](OWN|T)",
    '[x](OWN"T")',
    "<a href=OWN|T>",
    '<a href="OWN"T>',
    `OWN|${"x".repeat(400)}/T`,
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
    ...Array.from("|,;)]\"'`", (delimiter) => `OWN${delimiter}T`),
    "|OWN|T|",
    "|OWN|T|OWN/core|",
    "OWN|Bearer:T.",
    "OWN|OWN|T",
    "[x](OWN)T",
    "`OWN`:`T`",
    "URL=OWN;TOKEN=T;curl",
    "'OWN','T'",
    `OWN|${"x".repeat(400)}|T`,
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
        "|",
        "\\",
        "O",
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        // A text that goes on may close a quote behind the token: what was an address until then stays refused.
        let sofar = "";
        let exposedSoFar = false;
        let spot: TextState = textStart;
        let exposedInPieces = false;
        for (const part of parts) {
          const piece = part.replaceAll("T", tokenMark).replaceAll("O", ownUrlMark);
          sofar += piece;
          exposedSoFar ||= readOn(textStart, sofar).exposed;
          const read = readOn(spot, piece);
          exposedInPieces ||= read.exposed;
          ({ spot } = read);
        }
        expect(exposedInPieces).toBe(exposedSoFar);
      }),
      { numRuns: 3000, examples: [[["T", '"', "@", '"', ","]], [["O", "|", "T", ".", "a"]]] },
    );
  });

  test("is found behind the own URL in a word too long to be kept", () => {
    const long = "x".repeat(400);
    const exposedIn = (...pieces: string[]) => {
      let spot = textStart;
      return pieces.some((piece) => {
        const read = readOn(spot, piece.replaceAll("T", tokenMark).replaceAll("O", ownUrlMark));
        ({ spot } = read);
        return read.exposed;
      });
    };
    expect(exposedIn(`O|${long}`, "|T")).toBe(false);
    expect(exposedIn(`"${long}","O","${long}"`, ":T")).toBe(false);
    expect(exposedIn(`O,${long}`, ".evil.com\\", "T")).toBe(true);
    expect(exposedIn(`O,evil.com\\${long}`, "T")).toBe(true);
    expect(exposedIn(`O|https://evil/${long}`, "|T")).toBe(true);
    expect(exposedIn(`https://evil/O|${long}`, "|T")).toBe(true);
  });

  test("stands behind the own URL only where a delimiter follows, whatever else is around", () => {
    const word = fc.stringMatching(/^[a-zOT0-9/?@.#:&%\\,;|"'()[\]]{0,12}$/);
    const marked = (text: string) => text.replaceAll("T", tokenMark).replaceAll("O", ownUrlMark);
    const isExposed = (text: string) => readOn(textStart, marked(text)).exposed;
    fc.assert(
      fc.property(word, word, (head, tail) => {
        // Without a delimiter directly behind it the own URL is read as any other.
        const text = `${head}T${tail}`;
        if (!/O[|,;)\]"']/.test(text)) expect(isExposed(text)).toBe(isExposed(text.replaceAll("O", "https://a")));
        // And with one it never takes what stands before it or behind it out of an address.
        if (!text.includes("O") && isExposed(text)) expect(isExposed(`O|${text}`)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test("is always found behind an address, and never where there is nothing of one", () => {
    const word = fc.stringMatching(/^[a-z0-9,;!*_"'()=&%-]{0,20}$/);
    fc.assert(fc.property(word, (middle) => expect(told(`https://x/${middle}T`)).toBe(true)));
    const plain = fc.stringMatching(/^[a-z0-9 ,;!*_()="\n-]{0,60}$/);
    fc.assert(fc.property(plain, plain, (a, b) => expect(told(`${a}T${b}`)).toBe(false)));
  });

  test("is looked for in a time that does not explode", () => {
    for (const piece of [
      "a",
      "<",
      "<a b=",
      '"',
      "'\"`",
      "\\",
      "T",
      "T ",
      "O|",
      "O|T",
      "/O|",
      '"O",',
      "&",
      "&a",
      "/on",
      "<a on",
      '="',
      "x<y ",
    ])
      readOn(
        textStart,
        piece
          .replaceAll("T", tokenMark)
          .replaceAll("O", ownUrlMark)
          .repeat(200_000 / piece.length),
      );
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type RequestOptions, type TestApp } from "../../tests/harness.ts";
import { gif, jpeg, png, svg } from "../../tests/fixtures/media-files.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { MEDIA_MAX_BYTES: "3000000", MEDIA_QUOTA_BYTES: "8000000" } });
});
afterAll(() => app.stop());

type Content = Uint8Array<ArrayBuffer> | string;
const upload = (name: string, content: Content, fields: object = {}, options: RequestOptions = {}) => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields))
    form.append(field, typeof value === "string" ? value : JSON.stringify(value));
  form.append("file", new Blob([content]), name);
  return app.post("/core/media.json", undefined, { raw: form, ...options });
};
const bytes = async (url: string, headers: Record<string, string> = {}, method = "GET") => {
  const response = await fetch(`${app.origin}${url}`, { method, headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.bytes() };
};
const textOf = (body: Uint8Array) => new TextDecoder().decode(body);

describe("an upload", () => {
  test("is stored, listed and served", async () => {
    const picture = png(640, 480);
    const fields = { folder: "team", is_public: true, titles: { en: "Anna" }, alts: { en: "Anna", pl: "Ania" } };
    const made = await upload("anna.png", picture, fields);
    expect([made.status, made.json]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "anna.png",
        size: picture.length,
        mime: "image/png",
        width: 640,
        height: 480,
        sha256: new Bun.CryptoHasher("sha256").update(picture).digest("hex"),
        url: `/media/${made.json.id}/anna.png`,
        ...fields,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const listed = await app.get("/core/media.json?under=team&mime=image/&q=anna&is_public=true");
    expect([listed.headers.get("x-total-count"), listed.json]).toEqual(["1", [made.json]]);
    expect((await app.get(`/core/media/${made.json.id}.json`)).json).toEqual(made.json);
    const served = await bytes(made.json.url);
    expect([served.status, served.body]).toEqual([200, picture]);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "content-disposition": `inline; filename="anna.png"; filename*=UTF-8''anna.png`,
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
    });
  });

  test.each(["żółw.txt", "Zdjęcie – Łódź.txt", "東京 🐢.txt", "ó.txt"])("may be called %j", async (name) => {
    const form = new FormData();
    form.append("file", new Blob(["x"]), name);
    const made = await app.post("/core/media.json", undefined, { raw: form });
    expect([made.status, made.json.name]).toEqual([201, name]);
  });

  test("with a name that is not encoded as it says is refused", async () => {
    const raw = `--b\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''%zz\r\n\r\nx\r\n--b--\r\n`;
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const { status, json } = await app.post("/core/media.json", undefined, { raw, headers });
    expect([status, json]).toEqual([400, { error: "the form cannot be read (filename*)" }]);
  });

  test("of the same bytes under the same name is the file that is there; the bytes are stored once", async () => {
    const [one, other] = await Promise.all([upload("twice.gif", gif(3, 4)), upload("twice.gif", gif(3, 4))]);
    expect([one.status, other.status].toSorted((a, b) => a - b)).toEqual([200, 201]);
    expect(one.json).toEqual(other.json);
    const elsewhere = await upload("twice.gif", gif(3, 4), { folder: "copy" });
    expect([elsewhere.status, elsewhere.json.sha256]).toEqual([201, one.json.sha256]);
    expect(await app.sql`select 1 from media_contents where hash = ${one.json.sha256}`).toHaveLength(1);
    const taken = await upload("twice.gif", gif(5, 6));
    expect([taken.status, taken.json]).toEqual([422, { name: ["has already been taken in this folder"] }]);
  });

  test("with an Idempotency-Key is made once, whatever separates its parts", async () => {
    const options = { headers: { "idempotency-key": "media-1" } };
    const first = await upload("keyed.gif", gif(7, 8), {}, options);
    const again = await upload("keyed.gif", gif(7, 8), {}, options);
    expect([first.status, again.status, again.json.id]).toEqual([201, 201, first.json.id]);
    expect((await upload("other.gif", gif(7, 8), {}, options)).status).toBe(409);
  });

  test.each<[string, string, Content, object, number, object]>([
    ["a path", "x.png", png(1, 1), { name: "../x.png" }, 422, { name: ["must not contain slashes"] }],
    ["a parent", "x.png", png(1, 1), { name: ".." }, 422, { name: ["is a path and not a name"] }],
    ["a Windows path", "x.png", png(1, 1), { name: "C:\\x.png" }, 422, { name: ["must not contain slashes"] }],
    [
      "a name whose direction turns",
      "x.png",
      png(1, 1),
      { name: "a\u202egnp.exe" },
      422,
      { name: ["must not contain characters that cannot be seen"] },
    ],
    [
      "NUL",
      "x.png",
      png(1, 1),
      { name: "a\0.png" },
      422,
      { name: ["must not contain characters that cannot be seen"] },
    ],
    ["256 bytes", "x.png", png(1, 1), { name: "ż".repeat(128) }, 422, { name: ["may have at most 255 bytes"] }],
    ["a folder above", "x.png", png(1, 1), { folder: "a/../b" }, 422, { folder: ["is a path and not a name"] }],
    ["an absolute folder", "x.png", png(1, 1), { folder: "/etc" }, 422, { folder: ["can't be blank"] }],
    ["texts that are none", "x.png", png(1, 1), { alts: "Anna" }, 422, { alts: [expect.any(String)] }],
    ["a locale that is none", "x.png", png(1, 1), { alts: { english: "Anna" } }, 422, { alts: [expect.any(String)] }],
    ["a flag that is none", "x.png", png(1, 1), { is_public: "maybe" }, 422, { is_public: ["must be true or false"] }],
    ["an unknown field", "x.png", png(1, 1), { foldre: "x" }, 422, { foldre: ["is unknown"] }],
    ["too many bytes", "x.bin", new Uint8Array(3_000_001), {}, 413, { error: expect.stringContaining("3000000") }],
    ["an SVG that is none", "x.svg", "<svg><path></svg>", {}, 422, { file: [expect.stringContaining("no SVG")] }],
  ])("with %s is refused", async (_, name, content, fields, status, refusal) => {
    const before = await app.sql`select count(*) as rows from media`;
    const answer = await upload(name, content, fields);
    expect([answer.status, answer.json]).toMatchObject([status, refusal]);
    expect(await app.sql`select count(*) as rows from media`).toEqual(before);
  });

  test("of something else than one file in a form is refused", async () => {
    const send = (raw: BodyInit, headers = {}) => app.post("/core/media.json", undefined, { raw, headers });
    expect((await send("{}", { "content-type": "application/json" })).status).toBe(415);
    expect((await send("x", { "content-type": "multipart/form-data" })).status).toBe(415);
    const empty = new FormData();
    empty.append("folder", "x");
    expect((await send(empty)).json).toEqual({ file: ["is required"] });
    const two = new FormData();
    for (const name of ["a", "b"]) two.append("file", new Blob([png(1, 1)]), name);
    expect((await send(two)).json).toEqual({ file: ["send one file at a time"] });
    const cut = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\nhalf';
    expect((await send(cut, { "content-type": "multipart/form-data; boundary=x" })).status).toBe(400);
  });

  test("beyond the account's quota is refused", async () => {
    const three = new Uint8Array(2_900_000);
    for (const n of [1, 2]) {
      three[0] = n;
      expect((await upload(`${n}.bin`, three, { folder: "quota" })).status).toBe(201);
    }
    three[0] = 3;
    const full = await upload("3.bin", three, { folder: "quota" });
    expect([full.status, full.json.error]).toEqual([413, "the account's files may have 8000000 bytes in all"]);
    // The same bytes once more take no room.
    three[0] = 2;
    expect((await upload("again.bin", three, { folder: "quota" })).status).toBe(201);
  });
});

describe("what a file is", () => {
  test.each<[string, string, Content, string, "inline" | "attachment"]>([
    ["a page called a picture", "a.png", "<!doctype html><script>alert(1)</script>", "text/html", "attachment"],
    ["a picture called a page", "a.html", png(2, 3), "image/png", "inline"],
    ["a GIF that is a script too", "b.gif", `GIF89a/*${"\0".repeat(9)}*/=1;alert(1)`, "image/gif", "inline"],
    ["a JPEG with a page behind it", "c.jpg", jpeg(4, 5, "<script>alert(1)</script>"), "image/jpeg", "inline"],
    ["an archive", "d.zip", "PK\x03\x04 and the rest", "application/zip", "attachment"],
    ["a document", "e.docx", "PK\x03\x04 and more", expect.stringContaining("wordprocessingml"), "attachment"],
    ["a PDF", "f.pdf", "%PDF-1.7\n<script>alert(1)</script>", "application/pdf", "attachment"],
    ["a text with a page in it", "g.txt", "hello <script>alert(1)</script>", "text/html", "attachment"],
    ["a text", "h.html", "Żółw & 1 < 2", "text/plain", "inline"],
    ["bytes", "i.txt", "\x00\x01\x02", "application/octet-stream", "attachment"],
    ["nothing", "j.txt", "", "text/plain", "inline"],
  ])("is found in its content: %s", async (_, name, content, mime, disposition) => {
    const { status, json } = await upload(name, content, { folder: "kinds", is_public: true });
    expect([status, json.mime]).toEqual([201, mime]);
    const { headers, body } = await bytes(json.url);
    expect(headers.get("content-type")).toBe(json.mime.startsWith("text/") ? `${json.mime}; charset=utf-8` : json.mime);
    expect(headers.get("content-disposition")).toStartWith(disposition);
    expect(headers.get("content-security-policy")).toEndWith("; sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(body).toEqual(typeof content === "string" ? new TextEncoder().encode(content) : content);
  });

  test("a picture of 30,000 x 30,000 points is only measured", async () => {
    const { status, json } = await upload("huge.png", png(30_000, 30_000), { folder: "kinds" });
    expect([status, json.width, json.height]).toEqual([201, 30_000, 30_000]);
  });

  test("a picture that says where it was taken is stored as it is, and the answer says so", async () => {
    const gps = [
      0x45, 0x78, 0x69, 0x66, 0, 0, 0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 26,
    ];
    const picture = jpeg(30, 20);
    const tagged = new Uint8Array([
      ...picture.subarray(0, 2),
      0xff,
      0xe1,
      0,
      gps.length + 2,
      ...gps,
      ...picture.subarray(2),
    ]);
    const { headers, json } = await upload("place.jpg", tagged, { folder: "kinds" });
    expect([headers.get("warning"), json.size]).toEqual([expect.stringContaining("GPS"), tagged.length]);
    expect((await upload("nowhere.jpg", picture, { folder: "kinds" })).headers.get("warning")).toBeNull();
  });

  test("an SVG loses everything that could act", async () => {
    const { status, json } = await upload("drawing.svg", svg, { folder: "kinds", is_public: true });
    expect([status, json.mime]).toEqual([201, "image/svg+xml"]);
    const served = textOf((await bytes(json.url)).body);
    expect(served).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><style>.a{fill:url(#g)}</style>' +
        '<linearGradient id="g"></linearGradient><rect class="a" width="9"></rect><use href="#g"></use>' +
        '<text>1 &lt; 2</text><image></image><animate></animate><circle r="1"></circle></svg>',
    );
  });

  describe("an SVG keeps what draws, and its answer says what it has lost:", () => {
    const xmlns = 'xmlns="http://www.w3.org/2000/svg"';
    const cases: [what: string, content: string | Uint8Array<ArrayBuffer>, kept: string, lost: string[]][] = [
      [
        "rules of a style, each by itself",
        '<style media="all">/* @ */@charset "x";@import "//evil.example/a";a{b:c}@media (min-width: 9px){.a:not(.b){fill:url(//evil.example);stroke:url( "#s" )}}' +
          "@keyframes k{from{transform:rotate(0)}50%{opacity:calc(1 - (2 * .1))}}" +
          "@font-face{font-family:F;src:url(data:font/woff2;base64,AAAA) format('woff2')}" +
          "@font-face{font-family:G;src:url(//evil.example/g)}.c{--x:1;.d{color:rgb(0 0 0/.5)}}" +
          ".e{background:image-set('http://evil.example/x' 1x);fill:red}.f{behavior:url(#a)}.g{a:\\75rl(b)}.h{a:src('//evil.example')}</style>",
        '<style media="all">a{b:c}@media (min-width: 9px){.a:not(.b){stroke:url( &quot;#s&quot; )}}' +
          "@keyframes k{from{transform:rotate(0)}50%{opacity:calc(1 - (2 * .1))}}" +
          "@font-face{font-family:F;src:url(data:font/woff2;base64,AAAA) format('woff2')}" +
          "@font-face{font-family:G}.c{--x:1;.d{color:rgb(0 0 0/.5)}}.e{fill:red}.f{}.g{}.h{}</style>",
        ["@import", "fill:url(//evil.example)", "src:url(//evil.example/g)", "image-set", "behavior"],
      ],
      [
        "what a link holds, the words of attributes, and their prefixes",
        '<a href="https://x.example"><g class="expression" id="a(b)" xml:space="preserve" xml:lang="pl"><set attributeName="fill" to="red"/></g></a>',
        '<g class="expression" id="a(b)" xml:space="preserve" xml:lang="pl"><set attributeName="fill" to="red"></set></g>',
        ["links of <a>"],
      ],
      [
        "declarations of an attribute",
        `<g style="fill:red;background:image-set(&quot;//evil.example&quot; 1x);stroke:url('#s')" onclick="a()" fill="url(//evil.example)"/><script>a()</script>`,
        "<g style=\"fill:red;stroke:url('#s')\"></g>",
        ["image-set", "onclick", "the attribute fill", "<script>"],
      ],
    ];
    test.each(cases)("%s", async (what, content, kept, lost) => {
      const { status, json, headers } = await upload(`${what}.svg`, `<svg ${xmlns}>${String(content)}</svg>`, {
        is_public: true,
      });
      expect([status, json.mime]).toEqual([201, "image/svg+xml"]);
      expect(textOf((await bytes(json.url)).body)).toBe(`<svg ${xmlns}>${kept}</svg>`);
      for (const part of lost) expect(headers.get("warning")).toContain(part);
      // What is stored is as it will stay.
      const again = await upload(`${what}-again.svg`, textOf((await bytes(json.url)).body));
      expect([again.headers.get("warning"), again.json.sha256]).toEqual([null, json.sha256]);
    });

    test("entities that it declares, within bounds", async () => {
      const doctype =
        '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x.example/a.dtd" [<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY both "&#62;&one;"><!ENTITY one "1">]>';
      const { status, json } = await upload("entities.svg", `${doctype}<svg xmlns="&ns;"><text>&both;</text></svg>`, {
        is_public: true,
      });
      expect(status).toBe(201);
      expect(textOf((await bytes(json.url)).body)).toBe(`<svg ${xmlns}><text>&gt;1</text></svg>`);
      const [one, ten] = ["x".repeat(2000), "&a;".repeat(200)];
      const bomb = `<!DOCTYPE svg [<!ENTITY a "${one}"><!ENTITY b "${ten}"><!ENTITY c "${ten.replaceAll("a", "b")}">]><svg ${xmlns}><text>&c;</text></svg>`;
      const refused = await upload("bomb.svg", bomb);
      expect([refused.status, refused.json]).toEqual([
        422,
        { file: [expect.stringContaining("its entities make it larger")] },
      ]);
      const outside = `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg ${xmlns}><text>&a;</text></svg>`;
      expect((await upload("outside.svg", outside)).status).toBe(422);
    });

    test.each([
      ["ISO-8859-1", (text: string) => Uint8Array.from(text, (one) => one.charCodeAt(0))],
      ["UTF-16", (text: string) => new Uint8Array([0xff, 0xfe, ...Buffer.from(text, "utf16le")])],
    ])("letters of another encoding: %s", async (encoding, encode) => {
      const text = `<?xml version="1.0" encoding="${encoding}"?><svg ${xmlns}><text>Zoé</text></svg>`;
      const { status, json, headers } = await upload(`${encoding}.svg`, encode(text), { is_public: true });
      expect([status, json.mime]).toEqual([201, "image/svg+xml"]);
      expect(textOf((await bytes(json.url)).body)).toBe(`<svg ${xmlns}><text>Zoé</text></svg>`);
      expect(headers.get("warning")).toContain("to UTF-8");
    });
  });
});

describe("the address of a file", () => {
  test("answers HEAD, 304, and ranges", async () => {
    const { json } = await upload("range.txt", "0123456789", { is_public: true });
    const tag = `"${json.sha256.slice(0, 32)}"`;
    const head = await bytes(json.url, {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.headers.get("etag")]).toEqual([200, "10", tag]);
    expect((await bytes(json.url, { "if-none-match": tag })).status).toBe(304);
    const cases: [Record<string, string>, number, string, string | null][] = [
      [{ range: "bytes=2-4" }, 206, "234", "bytes 2-4/10"],
      [{ range: "bytes=7-" }, 206, "789", "bytes 7-9/10"],
      [{ range: "bytes=-2" }, 206, "89", "bytes 8-9/10"],
      [{ range: "bytes=5-99" }, 206, "56789", "bytes 5-9/10"],
      [{ range: "bytes=2-4", "if-range": tag }, 206, "234", "bytes 2-4/10"],
      [{ range: "bytes=2-4", "if-range": '"other"' }, 200, "0123456789", null],
      [{ range: "bytes=4-2" }, 200, "0123456789", null],
      [{ range: "bytes=0-1,3-4" }, 200, "0123456789", null],
      [{ range: "lines=1-2" }, 200, "0123456789", null],
    ];
    for (const [headers, status, body, range] of cases) {
      const answer = await bytes(json.url, headers);
      expect([headers, answer.status, textOf(answer.body), answer.headers.get("content-range")]).toEqual([
        headers,
        status,
        body,
        range,
      ]);
    }
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const { status, headers } = await bytes(json.url, { range });
      expect([range, status, headers.get("content-range")]).toEqual([range, 416, "bytes */10"]);
    }
  });

  test("carries any name, and leads to the new one after a change", async () => {
    const name = "Żółw „1” 100% & co.json";
    const { json } = await upload("x", "tortoise", { name: name.normalize("NFD"), is_public: true });
    expect(json.name).toBe(name);
    const { status, headers } = await bytes(json.url);
    expect([status, headers.get("content-disposition")]).toEqual([
      200,
      `inline; filename="___w _1_ 100_ & co.json"; filename*=UTF-8''${encodeURIComponent(name)}`,
    ]);
    await app.patch(`/core/media/${json.id}.json`, { media: { name: "tortoise.txt" } });
    const old = await bytes(json.url);
    expect([old.status, old.headers.get("location")]).toEqual([302, `/media/${json.id}/tortoise.txt`]);
  });

  test("of a private file opens with a token or a link, and for nobody else", async () => {
    const { json } = await upload("secret.txt", "a secret");
    const asked = (query: string, headers = {}) => bytes(`${json.url}${query}`, headers);
    expect((await asked("")).status).toBe(404);
    const token = await asked("", { authorization: `Bearer ${(await person(app, { role: "manager" })).token}` });
    expect([token.status, token.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    const without = (await person(app, { role: "user" })).token;
    expect((await asked("", { authorization: `Bearer ${without}` })).status).toBe(404);

    const link = (await app.post(`/core/media/${json.id}/link.json`, { link: { expires_in: 60 } })).json;
    const query = String(link.url).slice(json.url.length);
    const opened = await asked(query);
    expect([opened.status, textOf(opened.body)]).toEqual([200, "a secret"]);
    expect(opened.headers.get("cache-control")).toMatch(/^private, max-age=(60|[1-5]\d)$/);
    const { searchParams } = new URL(link.url, app.origin);
    const [expires, signature] = [Number(searchParams.get("expires")), searchParams.get("signature") ?? ""];
    const wrong = [
      `?expires=${expires + 1}&signature=${signature}`,
      `?expires=${expires}&signature=${signature.slice(0, -2)}AA`,
      `?expires=${expires}`,
      `?signature=${signature}`,
      `?expires=${expires}e0&signature=${signature}`,
    ];
    for (const one of wrong) expect([one, (await asked(one)).status]).toEqual([one, 404]);
    // The link of one file opens no other.
    const other = await upload("secret2.txt", "another secret");
    expect((await bytes(`${other.json.url}${query}`)).status).toBe(404);
    expect((await asked(query)).status).toBe(200);
  });

  test("is not another account's", async () => {
    const { json } = await upload("ours.txt", "ours", { is_public: true });
    const stranger = await otherAccount(app);
    expect((await bytes(json.url, { host: stranger.host })).status).toBe(404);
    const theirs = { token: stranger.adminToken, headers: { host: stranger.host } };
    expect((await app.get(`/core/media/${json.id}.json`, theirs)).status).toBe(404);
    expect((await app.delete(`/core/media/${json.id}.json`, theirs)).status).toBe(404);
    expect((await app.get("/core/media.json", theirs)).json).toEqual([]);
    const same = await upload("ours.txt", "ours", {}, theirs);
    expect([same.status, same.json.sha256]).toEqual([201, json.sha256]);
  });
});

describe("a change", () => {
  test("renames, moves and describes; a wrong version and a taken name are refused", async () => {
    const { json, headers } = await upload("before.txt", "text");
    const path = `/core/media/${json.id}.json`;
    const patch = (media: object, match = {}) => app.patch(path, { media }, { headers: match });
    const after = await patch({ name: "after.txt", folder: "a/b", alts: { pl: "Tekst" } });
    expect([after.status, after.json]).toMatchObject([
      200,
      { name: "after.txt", folder: "a/b", alts: { pl: "Tekst" } },
    ]);
    expect((await patch({ is_public: true }, { "if-match": headers.get("etag") ?? "" })).status).toBe(412);
    await upload("taken.txt", "other text");
    expect((await patch({ name: "taken.txt", folder: "" })).json).toEqual({
      name: ["has already been taken in this folder"],
    });
    expect((await patch({ name: "a/b" })).json).toEqual({ name: ["must not contain slashes"] });
    expect((await patch({ alts: { pl: 1 } })).status).toBe(422);
  });

  test("renames a folder with everything in it", async () => {
    for (const folder of ["old", "old/in", "older"]) await upload("f.txt", folder, { folder });
    const rename = (from: string, to: string) =>
      app.post("/core/media_folders/rename.json", { media_folder: { from, to } });
    expect((await rename("old", "old/in")).json).toEqual({ to: ["is the folder itself, or in it"] });
    expect((await rename("nowhere", "x")).json).toEqual({ from: ["is no folder that has files"] });
    expect((await rename("old", "older")).json).toEqual({ to: ["has files of the same names already"] });
    expect((await rename("old", "new")).json).toEqual({ path: "new", files: 2, bytes: 9 });
    const folders = (await app.get("/core/media_folders.json")).json.map(({ path }: { path: string }) => path);
    expect(folders).toContain("new/in");
    expect(folders).toContain("older");
    expect(folders).not.toContain("old");
  });
});

describe("a deletion", () => {
  test("ends the address at once; whoever is reading reads on", async () => {
    const content = new Uint8Array(2_000_000).fill(7);
    const { json } = await upload("read.bin", content, { is_public: true });
    const reading = await fetch(`${app.origin}${json.url}`);
    const reader = reading.body?.getReader();
    let read = (await reader?.read())?.value?.length ?? 0;
    expect((await app.delete(`/core/media/${json.id}.json`)).status).toBe(204);
    expect((await bytes(json.url)).status).toBe(404);
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) read += next.value.length;
    expect(read).toBe(content.length);
    expect((await app.delete(`/core/media/${json.id}.json`)).status).toBe(404);
  });
});

describe("an app's page", () => {
  const pageToken = async (id: string, viewer: string): Promise<string> => {
    const { text } = await app.get(`/a/${id}`, { token: viewer });
    return JSON.parse(/id="core-page">([^<]*)</.exec(text)?.[1] ?? "{}").token?.value ?? "";
  };

  test("reaches the files in the app's own folder, for a viewer with the privilege", async () => {
    const made = await app.post("/core/apps.json", {
      app: { name: "Album", app_engine: "html", css_engine: "none", source_code: "<p>Hi</p>" },
    });
    const own = `apps/${made.json.id}`;
    const token = await pageToken(made.json.id, (await person(app, { role: "manager" })).token);
    const foreign = (await upload("library.png", png(5, 5), { folder: "team" })).json.id;
    const near = (await upload("near.png", png(6, 6), { folder: `${own}0` })).json.id;

    const mine = await upload("photo.png", png(7, 7), {}, { token });
    expect([mine.status, mine.json.folder]).toEqual([201, own]);
    const inside = await upload("inside.png", png(8, 8), { folder: `${own}/2026` }, { token });
    expect([inside.status, inside.json.folder]).toEqual([201, `${own}/2026`]);
    for (const folder of ["team", "apps", `${own}0`, `${own}/../x`]) {
      const refused = await upload("out.png", png(9, 9), { folder }, { token });
      expect([folder, refused.status, Object.keys(refused.json)]).toEqual([folder, 422, ["folder"]]);
    }
    const listed = async (query: string) =>
      (await app.get(`/core/media.json${query}`, { token })).json.map(({ name }: { name: string }) => name).toSorted();
    for (const query of ["", "?under=team", "?under=apps", `?under=${own}0`])
      expect([query, await listed(query)]).toEqual([query, ["inside.png", "photo.png"]]);
    expect(await listed(`?under=${own}/2026`)).toEqual(["inside.png"]);
    expect(await listed("?folder=team")).toEqual([]);

    const at = (id: string) => `/core/media/${id}.json`;
    for (const id of [foreign, near]) {
      expect((await app.get(at(id), { token })).status).toBe(404);
      expect((await app.patch(at(id), { media: { folder: own } }, { token })).status).toBe(404);
      expect((await app.post(`/core/media/${id}/link.json`, { link: {} }, { token })).status).toBe(404);
      expect((await app.delete(at(id), { token })).status).toBe(404);
    }
    const moved = await app.patch(at(mine.json.id), { media: { folder: "team" } }, { token });
    expect([moved.status, moved.json]).toEqual([422, { folder: [`must be ${own}, or in it`] }]);
    const renamed = await app.patch(at(inside.json.id), { media: { name: "b.png" } }, { token });
    expect([renamed.status, renamed.json.folder]).toEqual([200, `${own}/2026`]);
    const link = await app.post(`/core/media/${mine.json.id}/link.json`, { link: {} }, { token });
    expect((await bytes(link.json.url)).status).toBe(200);
    expect((await app.delete(at(mine.json.id), { token })).status).toBe(204);

    // Folders and resumable uploads are not for pages of apps, and nobody's page has the privilege.
    expect((await app.get("/core/media_folders.json", { token })).status).toBe(403);
    expect(
      (await app.post("/core/media/uploads", undefined, { token, headers: { "tus-resumable": "1.0.0" } })).status,
    ).toBe(403);
    const without = await pageToken(made.json.id, (await person(app, { role: "user" })).token);
    expect((await app.get("/core/media.json", { token: without })).status).toBe(403);
    expect((await upload("no.png", png(9, 9), {}, { token: without })).status).toBe(403);
  });
});

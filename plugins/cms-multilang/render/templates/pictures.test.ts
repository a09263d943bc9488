import { beforeAll, describe, expect, test } from "bun:test";
import { otherAccount } from "../../../../tests/harness.ts";
import { serverWithSites } from "../../../../tests/sites.ts";
import { gif, png } from "../../../../tests/fixtures/media-files.ts";

const server = serverWithSites(async () => {});
const { make, at } = server;

async function upload(name: string, content: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [field, value] of Object.entries({ is_public: "true", ...fields })) form.append(field, value);
  form.append("file", new Blob([content]), name);
  return (await server.app.post("/core/media.json", undefined, { raw: form })).json;
}

/** What a page with this content shows in a language. */
let pages = 0;
async function shown(content: string, host = "pictures.pl"): Promise<string> {
  const path = `page-${++pages}`;
  await make.page({ code: path, path, site_code: "pictures", content });
  return (await at(host, `/${path}`)).text;
}

beforeAll(async () => {
  await make.site({ code: "pictures", locale: "pl", multilang: true });
  await make.domain({ name: "pictures.pl", site_code: "pictures", locale: "pl" });
  await make.domain({ name: "pictures.com", site_code: "pictures", locale: "en" });
});

describe("the filter image", () => {
  test("prints a whole img: sizes that browsers choose from, dimensions, and the text of the page's language", async () => {
    const alts = JSON.stringify({ pl: 'Zespół "A"', en: "Team" });
    const { id } = await upload("team.png", png(1000, 500), { folder: "about", alts });
    const content = '{{ "about/team.png" | image: width: 640 }}';
    const sources = [160, 320, 640, 960].map((width) => `/media/${id}/w/${width}.webp ${width}w`).join(", ");
    const img = (alt: string) =>
      `<img src="/media/${id}/w/640.webp" srcset="${sources}" sizes="(max-width: 640px) 100vw, 640px" alt="${alt}" width="640" height="320" loading="lazy" decoding="async">`;
    expect(await shown(content)).toBe(img("Zespół &quot;A&quot;"));
    expect((await at("pictures.com", `/page-${pages}`)).text).toBe(img("Team"));
  });

  test.each([
    ['{{ "logo.gif" | image }}', 'alt="" width="90" height="30" loading="lazy"'],
    ['{{ "logo.gif" | image: width: 45, loading: "eager" }}', 'alt="" width="45" height="15" loading="eager"'],
    ['{{ "/logo.gif" | image: alt: "<Logo>", class: "a" }}', 'alt="&lt;Logo&gt;" width="90" height="30" class="a"'],
    ['{{ "logo.gif" | image: width: "many" }}', 'width="90"'],
    ['{% assign name = "logo" %}{{ name | append: ".gif" | image }}', 'width="90"'],
    ['{% for n in (1..2) %}{{ "logo.gif" | image }}{% endfor %}', 'width="90"'],
  ])("%s has %s", async (content, part) => {
    const { url } = await upload("logo.gif", gif(90, 30));
    const text = await shown(content);
    expect(text).toContain(`<img src="${url}"`);
    expect(text).toContain(part);
  });

  test.each([
    '{{ "nobody.png" | image }}',
    "{{ 7 | image }}",
    '{{ "" | image }}',
    "{{ none | image }}",
    '{{ "a\\0b" | image }}',
  ])("%s prints nothing", async (content) => {
    expect(await shown(`<p>${content}</p>`)).toBe("<p></p>");
  });

  test("prints nothing for a file that is private, no picture, or another account's", async () => {
    await upload("private.png", png(10, 10), { is_public: "false" });
    await upload("text.png", new TextEncoder().encode("text"));
    const stranger = await otherAccount(server.app);
    const form = new FormData();
    form.append("is_public", "true");
    form.append("file", new Blob([png(10, 10)]), "theirs.png");
    const options = { raw: form, token: stranger.adminToken, headers: { host: stranger.host } };
    expect((await server.app.post("/core/media.json", undefined, options)).status).toBe(201);
    for (const name of ["private.png", "text.png", "theirs.png"])
      expect([name, await shown(`{{ "${name}" | image }}`)]).toEqual([name, ""]);
  });

  test("a page shows an upload, a change and a deletion at once", async () => {
    expect(await shown('{{ "new.gif" | image }}')).toBe("");
    const again = async () => (await at("pictures.pl", `/page-${pages}`)).text;
    const { id } = await upload("new.gif", gif(10, 10));
    expect(await again()).toContain('alt=""');
    await server.app.patch(`/core/media/${id}.json`, { media: { alts: { pl: "Nowy" } } });
    expect(await again()).toContain('alt="Nowy"');
    await server.app.patch(`/core/media/${id}.json`, { media: { is_public: false } });
    expect(await again()).toBe("");
    await server.app.patch(`/core/media/${id}.json`, { media: { is_public: true } });
    expect(await again()).toContain("<img");
    await server.app.delete(`/core/media/${id}.json`);
    expect(await again()).toBe("");
  });

  test("the picture is served at the site's own host", async () => {
    const { url } = await upload("served.gif", gif(3, 3));
    const answer = await at("pictures.pl", url);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/gif"]);
  });
});

import { beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person } from "../../tests/harness.ts";
import { serverWithSites } from "../../tests/sites.ts";
import { gif } from "../../tests/fixtures/media-files.ts";

const server = serverWithSites(async () => {});
const { make } = server;

async function upload(name: string, folder = "", options: object = {}): Promise<string> {
  const form = new FormData();
  form.append("folder", folder);
  form.append("file", new Blob([gif(2, 2)]), name);
  return (await server.app.post("/core/media.json", undefined, { raw: form, ...options })).json.id;
}

const usesOf = async (id: string, options: object = {}) => {
  const { status, json } = await server.app.get(`/core/media/${id}/uses.json`, options);
  return status === 200 ? json.map((use: { model: string; code: string }) => `${use.model} ${use.code}`) : status;
};

beforeAll(async () => {
  await make.site({ code: "uses", locale: "pl" });
});

describe("where a file is used", () => {
  test("is answered for each kind of record, by its place in quotes or its address", async () => {
    const id = await upload("anna.gif", "team");
    const tag = '{{ "team/anna.gif" | image: width: 640 }}';
    const own = { site_code: "uses" };
    const { id: pageId } = await make.page({ ...own, code: "a-page", path: "a", content: `<p>${tag}</p>` });
    await make.page({ ...own, code: "by-field", path: "b", fields: { pl: { photo: "team/anna.gif" } } });
    await make.page({ ...own, code: "html-in-field", path: "c", fields: { box: `<b>${tag}</b>` } });
    await make.paragraph({ ...own, code: "by-address", content: `<a href="/media/${id}/anna.gif">x</a>` });
    await make.paragraph({ code: "every-site", content: "{{ '/team/anna.gif' | image }}" });
    await make.layout({ ...own, code: "a-layout", content: tag });
    await make.article({ ...own, code: "an-article", title: "News", path: "news", lead: tag });
    await make.site({ code: "logo", locale: "pl", fields: { logo: "/team/anna.gif" } });
    expect(await usesOf(id)).toEqual([
      "Cms::Paragraph every-site",
      "Cms::Site logo",
      "Cms::Article an-article",
      "Cms::Layout a-layout",
      "Cms::Page a-page",
      "Cms::Page by-field",
      "Cms::Page html-in-field",
      "Cms::Paragraph by-address",
    ]);
    expect((await server.app.get(`/core/media/${id}/uses.json`)).json[4]).toEqual({
      model: "Cms::Page",
      id: pageId,
      code: "a-page",
      name: "a-page",
      site_code: "uses",
    });
  });

  test("is not another file whose name only ends or begins alike", async () => {
    const [short, deep] = [await upload("alike.gif"), await upload("alike.gif", "deep")];
    await make.page({ site_code: "uses", code: "deep", path: "deep", content: '{{ "deep/alike.gif" | image }}' });
    await make.page({ site_code: "uses", code: "long", path: "long", content: '{{ "alike.gif.bak" | image }}' });
    expect([await usesOf(short), await usesOf(deep)]).toEqual([[], ["Cms::Page deep"]]);
  });

  test("is found by a name with quotes and wildcards in it", async () => {
    const id = await upload("odd.gif");
    await server.app.patch(`/core/media/${id}.json`, { media: { name: `100%_"ż".gif` } });
    await make.page({ site_code: "uses", code: "odd", path: "odd", fields: { photo: `100%_"ż".gif` } });
    await make.page({ site_code: "uses", code: "even", path: "even", fields: { photo: `100xx"ż".gif` } });
    expect(await usesOf(id)).toEqual(["Cms::Page odd"]);
  });

  test("is told of one's own account, and only to who may see sites", async () => {
    const id = await upload("ours.gif");
    await make.page({ site_code: "uses", code: "ours", path: "ours", content: '{{ "ours.gif" | image }}' });
    const stranger = await otherAccount(server.app);
    const theirs = { token: stranger.adminToken, headers: { host: stranger.host } };
    expect(await usesOf(id, theirs)).toBe(404);
    expect(await usesOf(await upload("ours.gif", "", theirs), theirs)).toEqual([]);
    const { token } = await person(server.app, { role: "user", privileges: ["media"] });
    expect(await usesOf(id, { token })).toEqual([]);
    expect(await usesOf(id)).toEqual(["Cms::Page ours"]);
  });
});

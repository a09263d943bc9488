import { describe, expect, test } from "bun:test";
import { publicServer } from "../../../tests/fixtures/public-methods.ts";

const server = publicServer();
const { call, database, read } = server;

describe("a hidden field", () => {
  const schema = {
    fields: { title: "string", secret: "string", age: "integer" },
    indexed_fields: ["title", "secret", "age"],
  };
  const shown = { allowed_fields: ["title"] };
  const rows = [
    { title: "one", secret: "zebra", age: 3 },
    { title: "two", secret: "apple", age: 1 },
    { title: "three", secret: "mango", age: 2 },
  ];
  const fill = async (code: string) => {
    const ids: string[] = [];
    for (const data of rows)
      ids.push((await server.app.post(`/core/dbs/${code}/records`, { record: { data } })).json.id);
    return ids;
  };

  for (const [kind, given] of [
    ["an indexed", schema],
    ["a free", null],
  ] as const) {
    test(`of ${kind} database is neither shown, sorted nor searched by`, async () => {
      const code = await database({ list: shown, get: shown, search: shown, update: true, create: true }, given);
      const [id] = await fill(code);
      expect((await read(code, "list")).json.map((r: { data: unknown }) => r.data)).toEqual([
        { title: "three" },
        { title: "two" },
        { title: "one" },
      ]);
      expect((await read(code, `get?id=${id}`)).json.data).toEqual({ title: "one" });
      expect((await call(code, "update", { id, data: { age: 3 } })).json.data).toEqual({ title: "one" });
      expect((await call(code, "create", { data: { title: "x", secret: "y" } })).json.data).toEqual({ title: "x" });
      const titles = async (query: string) =>
        (await read(code, `search?${query}`)).json.map(
          ({ title, ...rest }: { title: string }) => `${title}${Object.keys(rest).length}`,
        );
      const newest = ["x3", "three3", "two3", "one3"];
      for (const query of ["sort=secret", "sort=-secret", "sort=age", "sort=-age", ""])
        expect([query, await titles(query)]).toEqual([query, newest]);
      for (const query of ["q=zebra", "q=z*", "q=*pp*", "q=3", "q=secret"])
        expect([query, await titles(query)]).toEqual([query, []]);
      expect(await titles("q=two&sort=title")).toEqual(["two3"]);
      expect(await titles("sort=title")).toEqual(["one3", "three3", "two3", "x3"]);
      for (const query of ["filter[secret]=zebra", "fields=secret", "search_in=secret&q=zebra&limit=0", "count=true"])
        expect((await read(code, `search?${query}`)).text).not.toContain("zebra");
      expect((await read(code, "search?filter[secret]=zebra")).json).toHaveLength(4);
      expect((await read(code, "search?count=true")).headers.get("x-total-count")).toBeNull();
      expect((await read(code, "search?limit=1")).headers.get("x-next-cursor")).toBeNull();
    });
  }

  test("does not come out through the order where only its title is searched in", async () => {
    const code = await database({ search: { allowed_fields: ["title", "age"] } }, schema);
    await fill(code);
    expect((await read(code, "search?sort=age")).json.map(({ age }: { age: number }) => age)).toEqual([1, 2, 3]);
  });

  test("stays when parameters are narrowed: others are ignored", async () => {
    const code = await database({ search: { allowed_params: ["q", "limit"] }, list: { allowed_params: [] } }, schema);
    await fill(code);
    const titles = async (path: string) =>
      (await read(code, path)).json.map((r: { title?: string; data?: { title: string } }) => r.title ?? r.data?.title);
    expect(await titles("search?sort=age&offset=1&limit=2")).toEqual(["three", "two"]);
    expect(await titles("search?q=one")).toEqual(["one"]);
    expect(await titles("list?limit=1")).toEqual(["three", "two", "one"]);
  });
});

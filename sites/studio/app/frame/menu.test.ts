import { describe, expect, test } from "bun:test";
import { studioIcons } from "../../../../runtime/plugin/studio-pages.ts";
import { icons } from "../icons.ts";
import { iconOf, menuOf } from "./menu.ts";
import type { Resource } from "../resources/resources.ts";
import { added, keptTiles, mostTiles, moved, removed, tilesOf, widened, type Tile } from "../home/tiles.ts";

function resource(path: string): Resource {
  const list = {
    method: "GET",
    path: `${path}.json`,
    summary: "",
    help: "",
    query: [],
    ifMatch: false,
    privilege: undefined,
  };
  const read = path === "/core/tiles" ? {} : { read: { ...list, path: `${path}/{id}.json` } };
  return { path, plugin: "x", privilege: undefined, list, ...read, fields: {}, actions: [], children: [] };
}
const paths = [
  "/core/tiles",
  "/account/users",
  "/core/prompts",
  "/core/prompts/system",
  "/core/dbs/{db_id}/records",
  "/shop/items",
];
const resources = paths.map(resource);
const app = (name: string) => ({ id: name, name, url_code: name, url: `/a/${name}` });
const shape = (pages: { path: string }[] = [], apps: Record<string, ReturnType<typeof app>[]> = {}) =>
  menuOf(resources, pages, apps).map(({ name, items }) => [name, items.map(({ address }) => address)]);

describe("the menu", () => {
  test("has the known modules in their order, then the lists of other plugins", () => {
    expect(shape()).toEqual([
      ["core", ["/studio/core/prompts"]],
      ["account", ["/studio/account/people"]],
      ["shop", ["/studio/shop/items"]],
    ]);
  });

  test("has a plugin's pages in their module, but none with parameters or in the place of a list", () => {
    const pages = ["crm/contacts", "crm/contacts/:id", "core/prompts", "core/prompts/new", "account/activity"].map(
      (path) => ({ path }),
    );
    expect(shape(pages)).toEqual([
      ["core", ["/studio/core/prompts"]],
      ["account", ["/studio/account/people", "/studio/account/activity"]],
      ["shop", ["/studio/shop/items"]],
      ["crm", ["/studio/crm/contacts"]],
    ]);
  });

  test("has apps in the modules that they are shown in", () => {
    expect(shape([], { crm: [app("deals")], account: [app("a b")] })).toEqual([
      ["core", ["/studio/core/prompts"]],
      ["account", ["/studio/account/people", "/studio/account/apps/a%20b"]],
      ["shop", ["/studio/shop/items"]],
      ["crm", ["/studio/crm/apps/deals"]],
    ]);
  });
});

describe("tiles", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => ({ app: name, width: 1 })) as [Tile, Tile, Tile];

  test.each([
    [undefined, []],
    ["x", []],
    [{ tiles: "x" }, []],
    [{ tiles: [null, 3, {}, { app: 7 }, { app: "a" }] }, [a]],
    [{ tiles: [a, b, a] }, [a, b]],
    [{ tiles: [{ app: "a", width: 99 }] }, [{ app: "a", width: 2 }]],
    [{ tiles: [{ app: "a", width: -1 }] }, [a]],
    [{ tiles: [{ app: "a", width: Number.NaN }] }, [a]],
    [
      { tiles: Array.from({ length: 100 }, (_, n) => ({ app: `${n}` })) },
      Array.from({ length: mostTiles }, (_, n) => ({ app: `${n}`, width: 1 })),
    ],
  ])("of the preference %j are %j", (preference, tiles) => expect(tilesOf(preference)).toEqual(tiles));

  test.each([
    ["a", 1, "bac"],
    ["a", -1, "abc"],
    ["c", 1, "abc"],
    ["c", -5, "cab"],
    ["x", 1, "abc"],
  ])("%s moved by %i: %s", (name, by, order) => {
    expect(
      moved([a, b, c], name, by)
        .map((tile) => tile.app)
        .join(""),
    ).toBe(order);
  });

  test("of everybody come after the person's own, until they are hidden", () => {
    expect(tilesOf({ tiles: [b] }, [a, b])).toEqual([b, a]);
    const kept = keptTiles([b], [a, b]);
    expect(kept).toEqual({ tiles: [b], hidden: ["a"] });
    expect(tilesOf(kept, [a, b, c])).toEqual([b, c]);
    expect(keptTiles(added([b], "a"), [a])).toEqual({ tiles: [b, a] });
  });

  test("are added once, widened within bounds, and removed", () => {
    expect(added(added([a], "b"), "b")).toEqual([a, b]);
    expect(widened(widened([a, b], "a", 2), "a", 2)).toEqual([{ app: "a", width: 2 }, b]);
    expect(widened([a], "a", -1)).toEqual([a]);
    expect(removed([a, b], "a")).toEqual([b]);
  });
});

describe("the pictures of the menu", () => {
  const address = "/studio/x";
  const entry = app("x");
  test.each([
    [{ resource: resource("/core/dbs") }, "database"],
    [{ resource: resource("/shop/items") }, "list"],
    [{ page: { path: "crm/contacts", icon: "users" } }, "users"],
    [{ page: { path: "crm/contacts", icon: null } }, "file"],
    [{ page: { path: "crm/contacts", icon: "constructor" } }, "file"],
    [{ app: entry }, "app"],
  ] as const)("%j has %p", (item, icon) => expect(iconOf({ address, ...item })).toBe(icon));

  test("are there for every name that a plugin may give", () => {
    expect(Object.keys(icons)).toEqual(expect.arrayContaining([...studioIcons]));
  });
});

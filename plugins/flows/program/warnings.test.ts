/** Warnings of a program that is saved or shown. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { expect, test } from "bun:test";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { HttpError } from "../../../runtime/base/errors.ts";
import { createTemplates } from "./template.ts";
import { warningsOf } from "./warnings.ts";

const tables: Readonly<Record<string, readonly string[] | null>> = { shop: ["orders", "lines"], notes: null };
/** Account 1 has a connector, a flow and two databases; nobody else has anything. */
const existing: Parameters<typeof warningsOf>[0] = {
  connectors: {
    kindOf: async (_, code) => (code === "weather" ? "core/custom_connector" : undefined),
    methodsOf: async (accountId, code) =>
      accountId === 1 && code === "mail" ? [{ name: "send", public: false, takesOnly: ["to"] }] : undefined,
  },
  databases: {
    fieldHints: async (_accountId, code, table, fields) =>
      [...fields].filter((one) => code === "shop" && one !== "total").map((one) => `${table} has no ${one}`),
    databasesAlong: async (_accountId, _code, paths) => {
      if (paths.some((path) => path !== "buyer")) throw new HttpError(400, { error: "`expand`: no link" });
      return [];
    },
    find: async (accountId, code) => {
      const found = tables[code];
      return accountId === 1 && found !== undefined ? { id: "1", code, tables: found, open: [] } : undefined;
    },
  },
  templates: createTemplates(createLiquid()),
  stepTypes: new Map(),
  flowLookup: {
    current: async (accountId, code) =>
      accountId === 1 && code === "other" ? { code, programId: 1, program: [] } : undefined,
  },
};
const warnings = (...of: [accountId: number, program: unknown, made?: string]) => warningsOf(existing, ...of);

const noTable = "so no search finds it: tables are orders, lines";
const written = { type: "db", op: "create", db: "shop", table_name: "orders", data: {} };
const db = (fields: object) => ({ ...written, ...fields });
const read = (fields: object) => db({ data: undefined, ...fields });
const send = { type: "connector", connector: "mail", method: "send" };
const steps: [what: string, step: object, says: string[]][] = [
  ["a method that exists", send, []],
  [
    "an unknown connector",
    { ...send, connector: "fax" },
    ['.connector: the connector "fax" does not exist yet or is not active'],
  ],
  ["an unknown method", { ...send, method: "post" }, ['.method: the connector "mail" has no method "post"']],
  ["a parameter that the method reads", { ...send, params: { to: "a" } }, []],
  [
    "a parameter that the method has no place for",
    { ...send, params: { too: "a" } },
    ['.params: the method "send" has no place for the parameter "too": did you mean "to"?'],
  ],
  ["a flow that exists", { type: "flow", flow: "other" }, []],
  ["an unknown flow", { type: "flow", flow: "gone" }, ['.flow: the flow "gone" does not exist yet or is not active']],
  ["the flow that is being made", { type: "flow", flow: "own" }, []],
  ["a key that there is not", { ...send, retrys: 3 }, ['.retrys is unknown: did you mean "retry"?']],
  ["a table that exists", db({}), []],
  ["a link that exists", read({ op: "get", id: "1", table_name: undefined, expand: "buyer" }), []],
  [
    "an unknown link",
    read({ op: "get", id: "1", table_name: undefined, expand: ["seller"] }),
    [".expand: `expand`: no link"],
  ],
  ["an unknown database", db({ db: "gone" }), ['.db: the database "gone" does not exist yet']],
  [
    "an unknown table",
    db({ table_name: "order" }),
    ['.table_name: the table "order" does not exist: tables are orders, lines'],
  ],
  ["a table that is an expression", db({ table_name: "{{ input.table }}" }), []],
  ["a new record in no table", db({ table_name: undefined }), [`.table_name: the record is in no table, ${noTable}`]],
  ["a new record in a blank table", db({ table_name: "" }), [`.table_name: the record is in no table, ${noTable}`]],
  [
    "a record that leaves its table",
    db({ op: "update", id: "1", table_name: null }),
    [`.table_name: the record is in no table, ${noTable}`],
  ],
  ["a record that stays in its table", db({ op: "update", id: "1", table_name: undefined }), []],
  [
    "a search in no table",
    read({ op: "search", table_name: undefined }),
    [".table_name is missing: tables are orders, lines"],
  ],
  [
    "a search that names its table among its params",
    read({ op: "search", table_name: undefined, params: { table_name: "orders" } }),
    [],
  ],
  ["a record read by its id", read({ op: "get", id: "1", table_name: undefined }), []],
  [
    "a table of a record read by its id",
    read({ op: "get", id: "1" }),
    [".table_name does nothing here: `get` finds the record by its id"],
  ],
  ["a table of a database without tables", db({ db: "notes" }), ['.table_name: the database "notes" has no tables']],
  [
    "fields of a search that the schema does not know",
    read({ op: "search", params: { filter: { totl: "{{ a }}", total: { gt: 1 } }, any: [{ x: 1 }], sort: "-y" } }),
    [".params: orders has no totl", ".params: orders has no x", ".params: orders has no y"],
  ],
  [
    "fields of the conditions of an update",
    db({ op: "update", id: "1", if: { stauts: "new" }, increment: { totl: 1, total: 1 } }),
    [".if: orders has no stauts", ".increment: orders has no totl"],
  ],
  ["a search in a database without tables", read({ op: "search", db: "notes", table_name: undefined }), []],
];
test.each(steps)("%s", async (_, step, says) => {
  expect(await warnings(1, [step], "own")).toEqual(says.map((text) => `program[0]${text}`));
});

const inside: [what: string, program: (step: object) => object[], place: string][] = [
  ["a branch", (step) => [{ type: "if", condition: true, then: [], else: [step] }], "program[0].else[0]"],
  [
    "a loop",
    (step) => [
      { type: "return", value: 1 },
      { type: "each", in: [1], do: [step] },
    ],
    "program[1].do[0]",
  ],
  ["the steps after an error", (step) => [{ ...send, on_error: [step] }], "program[0].on_error[0]"],
];
test.each(inside)("names the place in %s", async (_, program, place) => {
  const says = `${place}.flow: the flow "gone" does not exist yet or is not active`;
  expect(await warnings(1, program({ type: "flow", flow: "gone" }))).toEqual([says]);
});

test("another account's flows, connectors and databases do not exist", async () => {
  const program = [send, { type: "flow", flow: "other" }, db({})];
  expect(await warnings(1, program)).toEqual([]);
  expect(await warnings(2, program)).toEqual([
    'program[0].connector: the connector "mail" does not exist yet or is not active',
    'program[1].flow: the flow "other" does not exist yet or is not active',
    'program[2].db: the database "shop" does not exist yet',
  ]);
});

test("a stored program with mistakes is warned of these alone", async () => {
  const found = await warnings(1, [{ type: "shopping-list.notify" }, { type: "flow", flow: "gone" }]);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain("program[0]");
});

/**
 * Writes the tables of docs/behaviour.md from the declarations: `bun scripts/tables.ts`. Needs no database.
 *
 * `<!-- fields of /account/webhooks -->` begins the fields of a resource. The last column, the meaning, is written by
 * hand and kept; a new field gets its help. `<!-- routes of prompts llm -->` begins the routes of plugins.
 */
import { User } from "../plugins/accounts/people/person.ts";
import { allUnits } from "../plugins/accounts/people/unit-routes.ts";
import { App } from "../plugins/apps/manage/app.ts";
import { Provider } from "../plugins/accounts/oidc/provider.ts";
import { kinds } from "../plugins/cms-multilang/resources.ts";
import { Connector } from "../plugins/connectors/connector.ts";
import { Cron } from "../plugins/crons/cron.ts";
import { Flow } from "../plugins/flows/manage/flow.ts";
import { Hook } from "../plugins/hooks/hook.ts";
import { Db } from "../plugins/jsondb/databases/db.ts";
import { Comment } from "../plugins/jsondb/comments/comment.ts";
import { View } from "../plugins/jsondb/views/view.ts";
import { Template } from "../plugins/mail/template.ts";
import { Media } from "../plugins/media/media.ts";
import { Prompt } from "../plugins/prompts/prompt.ts";
import { Token } from "../plugins/tokens/token.ts";
import { Webhook } from "../plugins/webhooks/subscriptions/webhook.ts";
import type { TSchema } from "@sinclair/typebox";
import type { Description } from "../runtime/operations/openapi/client.ts";
import type { Derivations, Each } from "../runtime/resource/declaration.ts";
import type { ColumnType, Field } from "../runtime/resource/fields.ts";
import { describeBuiltIn } from "./client.ts";

type Json = Readonly<Record<string, unknown>>;

interface ListedResource {
  readonly path: string;
  readonly each: readonly Each[];
  readonly derived?: Derivations;
}

const resources: readonly ListedResource[] = [
  Prompt,
  Token,
  App,
  Db,
  View,
  Comment,
  Webhook,
  Cron,
  Hook,
  Connector,
  Flow,
  Provider,
  Template,
  Media,
  User,
  ...allUnits,
  ...Object.values(kinds),
];
const types: Readonly<Record<ColumnType, string>> = {
  text: "string",
  bool: "boolean",
  int2: "integer",
  int4: "integer",
  int8: "integer",
  uuid: "UUID",
  timestamptz: "time",
  json: "object",
  jsonb: "object",
  _text: "list of strings",
  _int8: "list of integers",
};

/** The page with fields and routes as they are declared now. */
export function pageWithTables(page: string, description: Description): string {
  return page.replaceAll(/<!-- (fields|routes) of ([^>]+) -->\n\n((?:\|.*\n)*)/g, (_, what, names: string, before) => {
    const rows = what === "fields" ? fieldRows(names.split(" "), meaningsIn(before)) : routeRows(names, description);
    return `<!-- ${what} of ${names} -->\n\n${tableOf(rows)}`;
  });
}

/** What the present table says of each field. */
function meaningsIn(table: string): ReadonlyMap<string, string> {
  const rows = table.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
  return new Map(rows.map((cells) => [cells[1] ?? "", cells.at(-2) ?? ""]));
}

/** Of several resources with the same fields, those of the first. */
function fieldRows([path]: readonly string[], meanings: ReadonlyMap<string, string>): string[][] {
  const resource = resources.find((one) => one.path === path);
  if (!resource) throw new Error(`docs/behaviour.md: no resource has the path ${path}`);
  const meaningOf = (name: string, help = "") => meanings.get(`\`${name}\``) ?? help;
  const row = (name: string, type: string, omitted: string, label: string | undefined, help?: string) => {
    return [`\`${name}\``, type, omitted, label ?? "", meaningOf(name, help)];
  };
  const given = resource.each.filter(({ field }) => field.body);
  const shown = resource.each.filter(({ field }) => !field.body && field.shown);
  const infos = given.flatMap(({ info, field }) =>
    info ? [row(info.name, "string", answered, field.label?.[0])] : [],
  );
  const derived = Object.entries(resource.derived ?? {}).map(([name, { label, schema }]) =>
    row(name, derivedType(schema), answered, label[0]),
  );
  return [
    ["Field", "Type", "If left out", "In the Studio", "Meaning"],
    ...given.map(({ name, field }) => row(name, typeOf(field), whenLeftOut(field), field.label?.[0], field.help?.[0])),
    ...infos,
    ...shown.map(({ name, field }) => row(name, typeOf(field), answered, field.label?.[0], field.help?.[0])),
    ...derived,
  ];
}

const answered = "in answers only";

/** Of a union with null, its other type. */
const derivedType = ({ type, anyOf: [{ type: other }] = [{}] }: TSchema): string =>
  type === "array" ? "list" : (type ?? other);

const typeOf = ({ column, shown }: Field) =>
  !column.startsWith("_") && shown?.type === "array" ? "list" : types[column];

function whenLeftOut({ needed, madeOf, leftOut, blank }: Field): string {
  if (leftOut !== undefined) return leftOut;
  if (needed) return "refused";
  if (madeOf) return `made of \`${madeOf.field}\``;
  return blank === null || blank === "" ? "empty" : `\`${JSON.stringify(blank)}\``;
}

function routeRows(names: string, description: Description): string[][] {
  const wanted = new Set(names.split(" "));
  const rows = operationsIn(description).filter(({ told }) => wanted.has(String(told["tags"])));
  if (rows.length === 0) throw new Error(`docs/behaviour.md: there are no routes of ${names}`);
  const cells = rows.map(({ method, path, told }) => [method, path, needsOf(told), String(told["summary"])]);
  return [["Method", "Path", "Needs", "What it does"], ...cells];
}

interface Operation {
  readonly method: string;
  /** `/core/notes/{id}.json` is `/core/notes/:id`. */
  readonly path: string;
  readonly told: Json;
}

/** All of them, by their paths. */
export function operationsIn({ paths }: Description): readonly Operation[] {
  const all = Object.entries(paths).flatMap(([documented, methods]) => {
    const path = documented.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<!openapi)\.json$/, "");
    return Object.entries(asObject(methods)).map(([method, told]) => {
      return { method: method.toUpperCase(), path, told: asObject(told) };
    });
  });
  const orderOf = ({ method, path }: Operation) => `${path} ${order.indexOf(method)}`;
  return all.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

const order = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const asObject = (value: unknown): Json => (typeof value === "object" && value !== null ? { ...value } : {});

/** The privilege, or why it needs none. */
function needsOf({ "x-privilege": privilege, "x-access": access }: Json): string {
  if (typeof privilege === "string") return `\`${privilege}\``;
  return typeof access === "string" ? access.replace(/^needs /, "") : "open";
}

function tableOf([head = [], ...rows]: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("");
}

if (import.meta.main) {
  const file = Bun.file(`${import.meta.dir}/../docs/behaviour.md`);
  await Bun.write(file, pageWithTables(await file.text(), await describeBuiltIn()));
  process.exit(0);
}

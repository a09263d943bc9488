/**
 * Writes the tables of fields in docs/behaviour.md from the declarations: `bun scripts/field-tables.ts`. A table follows
 * a line `<!-- fields of /account/webhooks -->`. Its last column, the meaning, is written by hand and kept; a new field
 * gets its help.
 */
import { Connector } from "../plugins/connectors/connector.ts";
import { Cron } from "../plugins/crons/cron.ts";
import { Flow } from "../plugins/flows/manage/flow.ts";
import { Prompt } from "../plugins/prompts/prompt.ts";
import { Token } from "../plugins/tokens/token.ts";
import { Webhook } from "../plugins/webhooks/subscriptions/webhook.ts";
import type { Each } from "../runtime/resource/declaration.ts";
import type { ColumnType, Field } from "../runtime/resource/fields.ts";

interface Listed {
  readonly path: string;
  readonly each: readonly Each[];
}

const resources: readonly Listed[] = [Prompt, Token, Webhook, Cron, Connector, Flow];
const head = ["Field", "Type", "If left out", "In the Studio", "Meaning"];
const types: Readonly<Record<ColumnType, string>> = {
  text: "string",
  bool: "boolean",
  int4: "integer",
  int8: "integer",
  uuid: "UUID",
  timestamptz: "time",
  json: "object",
  jsonb: "object",
  _text: "list of strings",
};

/** The page with the fields as they are declared now. */
export function pageWithFields(page: string): string {
  return page.replaceAll(/<!-- fields of (\S+) -->\n\n((?:\|.*\n)*)/g, (_, path: string, before: string) => {
    const resource = resources.find((one) => one.path === path);
    if (!resource) throw new Error(`docs/behaviour.md: no resource has the path ${path}`);
    return `<!-- fields of ${path} -->\n\n${tableOf(resource, meaningsIn(before))}`;
  });
}

/** What the present table says of each field. */
function meaningsIn(table: string): ReadonlyMap<string, string> {
  const rows = table.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
  return new Map(rows.map((cells) => [cells[1] ?? "", cells.at(-2) ?? ""]));
}

function tableOf({ each }: Listed, meanings: ReadonlyMap<string, string>): string {
  const written = each.filter(({ field }) => field.body);
  const rows = written.map(({ name, field }) => {
    const cell = `\`${name}\``;
    return [
      cell,
      types[field.column],
      whenLeftOut(field),
      field.label?.[0] ?? "",
      meanings.get(cell) ?? field.help?.[0] ?? "",
    ];
  });
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("");
}

function whenLeftOut({ needed, madeOf, blank }: Field): string {
  if (needed) return "refused";
  if (madeOf) return `made of \`${madeOf.field}\``;
  return blank === null || blank === "" ? "empty" : `\`${JSON.stringify(blank)}\``;
}

if (import.meta.main) {
  const file = Bun.file(`${import.meta.dir}/../docs/behaviour.md`);
  await Bun.write(file, pageWithFields(await file.text()));
}

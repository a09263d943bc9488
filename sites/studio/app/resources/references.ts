/** What the fields of a record name: `flow_code` a flow, `created_by_id` a person, `target_code` what its kind says. */
import { addressOf } from "../address.ts";
import { lastWord } from "./names.ts";
import type { Resource } from "./resources.ts";
import { textOf } from "./values.ts";

type Row = Readonly<Record<string, unknown>>;

/** The key of a resource's bodies, else the last word of its path without its plural: `flow_processes` -> `flow_process`. */
export function singularOf({ path, create }: Pick<Resource, "path" | "create">): string {
  const word = lastWord(path);
  return create?.body?.key ?? (word.endsWith("sses") ? word.slice(0, -2) : word.replace(/s$/, ""));
}

/** Where the record stands that a field names; undefined if it names none, or one that the person may not see. */
export function referenceOf(name: string, row: Row, resources: readonly Resource[]): string | undefined {
  if (name === "path") return placeOfPath(textOf(row[name]), resources);
  const [, about = "", kind] = /^(\w+)_(id|code)$/.exec(name) ?? [];
  if (kind === undefined) return undefined;
  const words = [about, about.endsWith("_by") ? "user" : "", about.split("_").at(-1) ?? ""];
  const target = about === "target" ? [row["target_kind"], row["kind"]] : words;
  const found = target.flatMap((word) => resources.find((one) => isCalled(one, word)) ?? [])[0];
  // A code may be of several sites, an id never is.
  const value = row[`${about}_id`] ?? row[name];
  if (!found || !isValue(value)) return undefined;
  return addressOf(found, [String(value)]);
}

/** `/account/webhooks/3.json`, as lists of uses show it. */
function placeOfPath(path: string, resources: readonly Resource[]): string | undefined {
  const [, list, id = ""] = /^(\/.+)\/([^/]+)\.json$/.exec(path) ?? [];
  const found = resources.find((one) => one.path === list);
  return found && addressOf(found, [id]);
}

function isCalled(resource: Resource, word: unknown): boolean {
  return resource.read !== undefined && !resource.path.includes("{") && singularOf(resource) === word;
}

const starters = new Set(["cron", "webhook", "app"]);

export interface Related {
  readonly path: string;
  readonly address: string;
}

/** The lists that can be filtered by a record: the processes of a flow, the pages of a site, what a cron has started. */
export function relatedLists(resource: Resource, record: Row, resources: readonly Resource[]): Related[] {
  const own = { word: singularOf(resource), code: record["code"], id: record["id"] };
  const target = { word: record["target_kind"] ?? record["kind"], code: record["target_code"], id: undefined };
  return resources.flatMap((list) => {
    if (list.path.includes("{") || list.path === resource.path) return [];
    // What a cron, a webhook or an app has started.
    const starts = starters.has(own.word) && list.list.query.some((one) => one.name === "started_by");
    if (starts && isValue(own.id))
      return [{ path: list.path, address: `${addressOf(list, [])}?started_by=${own.word}:${own.id}` }];
    for (const { word, code, id } of [own, target])
      for (const [name, value] of [
        [`${String(word)}_code`, code],
        [`${String(word)}_id`, id],
        [word === "flow" || word === "connector" ? "target_code" : "", word === own.word ? code : undefined],
      ] as const)
        if (isValue(value) && list.list.query.some((one) => one.name === name))
          return [
            { path: list.path, address: `${addressOf(list, [])}?${new URLSearchParams({ [name]: String(value) })}` },
          ];
    return [];
  });
}

function isValue(value: unknown): value is string | number {
  return (typeof value === "string" && value !== "") || typeof value === "number";
}

/**
 * What must be done to make a site match its files, and the order in which pages are written, so that each finds its
 * path free and its master present. Pure.
 */
import { isObject } from "platform";
import { kinds, type SiteRecord } from "./kinds.ts";
import { keyOf, labelOf, same } from "./tree.ts";
import { type Value, type Values, textOf } from "./yaml.ts";

export interface Difference {
  readonly create: readonly SiteRecord[];
  readonly update: readonly Update[];
  /** On the server, without a file. */
  readonly extra: readonly SiteRecord[];
}

interface Update {
  readonly before: SiteRecord;
  readonly after: SiteRecord;
  /** The fields that differ, with their new values. */
  readonly changes: Values;
}

export function difference(now: readonly SiteRecord[], wanted: readonly SiteRecord[]): Difference {
  const there = new Map(now.map((record) => [keyOf(record), record]));
  const asked = new Set(wanted.map(keyOf));
  const update = wanted.flatMap((after): Update[] => {
    const before = there.get(keyOf(after));
    if (!before) return [];
    const differing = Object.entries(after.values).filter(([name, value]) => !same(value, before.values[name]));
    return differing.length === 0 ? [] : [{ before, after, changes: Object.fromEntries(differing) }];
  });
  return {
    create: wanted.filter((record) => !there.has(keyOf(record))),
    update,
    extra: now.filter((record) => !asked.has(keyOf(record))),
  };
}

/** For people: one line per record, and below it one per changed field. */
export function printDifference({ create, update, extra }: Difference, deletes: boolean): string[] {
  const order = new Map(kinds.map(({ name }, at) => [name, at]));
  const rows = [
    ...create.map((record) => ({ record, lines: [`+ ${labelOf(record)}`] })),
    ...update.map(({ before, after, changes }) => ({
      record: after,
      lines: [
        `~ ${labelOf(after)}`,
        ...Object.entries(changes).flatMap(([name, value]) => changed(name, before.values[name] ?? null, value)),
      ],
    })),
    ...extra.map((record) => ({
      record,
      lines: [deletes ? `- ${labelOf(record)}` : `? ${labelOf(record)} (only on the server; --delete removes it)`],
    })),
  ];
  const place = ({ kind }: SiteRecord) => order.get(kind) ?? 0;
  rows.sort((a, b) => place(a.record) - place(b.record) || (a.record.code < b.record.code ? -1 : 1));
  const count = (list: readonly unknown[], verb: string) => `${list.length} to ${verb}`;
  const summary = [count(create, "create"), count(update, "change"), count(deletes ? extra : [], "delete")].join(", ");
  return [...rows.flatMap(({ lines }) => lines), summary];
}

/** Compares maps key by key; shows everything else before and after. */
function changed(name: string, before: Value, after: Value): string[] {
  if (isMap(before) && isMap(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      same(before[key], after[key]) ? [] : changed(`${name}.${key}`, before[key] ?? null, after[key] ?? null),
    );
  }
  return [`    ${name}: ${brief(before)} -> ${brief(after)}`];
}

function isMap(value: Value): value is Values {
  return isObject(value);
}

function brief(value: Value): string {
  if (typeof value === "string" && value.includes("\n")) return `(${value.length} characters)`;
  const text = JSON.stringify(value);
  return text.length <= 70 ? text : `${text.slice(0, 67)}…`;
}

interface PageStep {
  readonly record: SiteRecord;
  /** Undefined = the page is created. */
  readonly changes: Values | undefined;
  /** The page only leaves its path for another one that waits for it; a later step moves it to its goal. */
  readonly asideFirst: boolean;
}

/** Pages without a file (`extra`) are assumed to be deleted before, or not to be in the way. */
export function pageSteps({ create, update }: Pick<Difference, "create" | "update">): PageStep[] {
  const moves = update.filter(({ after }) => after.kind === "page");
  // Only a page that moves can free a path. One that stays in the way is refused by the database.
  const occupied = new Map(moves.map(({ before }) => [slotOf(before), before.code]));
  const masters = [...create, ...moves.map(({ after }) => after)].filter(({ kind }) => kind === "page");
  const waiting = new Map<string, PageStep & { readonly from: string | undefined }>();
  for (const record of create)
    if (record.kind === "page")
      waiting.set(record.code, { record, changes: undefined, asideFirst: false, from: undefined });
  for (const { before, after, changes } of moves)
    waiting.set(after.code, { record: after, changes, asideFirst: false, from: slotOf(before) });
  const written = new Set(masters.map(({ code }) => code));

  const isReady = ({ record }: PageStep): boolean => {
    const holder = occupied.get(slotOf(record));
    const master = record.values["based_on_page_code"];
    const masterWaits = typeof master === "string" && written.has(master) && waiting.has(master);
    return !masterWaits && (holder === undefined || holder === record.code);
  };
  const steps: PageStep[] = [];
  const take = (step: PageStep & { readonly from: string | undefined }): void => {
    if (step.from !== undefined && occupied.get(step.from) === step.record.code) occupied.delete(step.from);
    occupied.set(slotOf(step.record), step.record.code);
    waiting.delete(step.record.code);
    steps.push({ record: step.record, changes: step.changes, asideFirst: false });
  };
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(isReady);
    for (const step of ready) if (isReady(step)) take(step);
    if (ready.length > 0) continue;
    const stuck = [...waiting.values()].find(({ from }) => from !== undefined && occupied.has(from));
    if (!stuck?.from) {
      for (const step of waiting.values()) take(step); // let the writers report the mistake
      break;
    }
    steps.push({ record: stuck.record, changes: stuck.changes, asideFirst: true });
    occupied.delete(stuck.from);
  }
  return steps;
}

/** The path and locale that a page occupies. A site has one home page, whatever its locale. */
function slotOf({ values }: SiteRecord): string {
  const { path, locale } = values;
  return path === "" ? "" : `${textOf(locale)} ${textOf(path)}`;
}

/** The order in which pages are written, so that each finds its path free and its master present. Pure. */
import type { Difference } from "./diff.ts";
import type { SiteRecord } from "./kinds.ts";
import { textOf, type Values } from "./yaml.ts";

export interface PageStep {
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

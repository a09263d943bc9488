/** Everything that starts a flow, as one list that is read and replaced. behaviour B.9. No HTTP, no SQL. */
import { forbidden, invalid, isObject, maxDepth, ValidationError, type Caller } from "platform";
import type { FlowContext } from "../context.ts";
import type { FlowRow } from "../manage/flow.ts";
import { programOf } from "../manage/check.ts";
import { programsOf } from "../manage/store.ts";
import { allSteps } from "../program/takes.ts";
import { isTemplate } from "../program/template.ts";
import { tableOf } from "../program/warnings.ts";
import type { Together, Trigger, TriggerSource, WrittenTrigger } from "./source.ts";

export const mostTriggers = 50;

/** As a request has it: what a key means depends on the kind. */
export interface GivenTrigger extends Readonly<Record<string, unknown>> {
  readonly id?: string | undefined;
  readonly kind: string;
}

type Context = Pick<FlowContext, "sql" | "transaction" | "committed" | "triggerSources">;

/** Those that the caller may see, by plugin and age. */
export async function triggersFor(ctx: Context, caller: Caller, flowCode: string): Promise<Trigger[]> {
  const lists = seenBy(ctx, caller).map((source) => source.list(caller, flowCode));
  return (await Promise.all(lists)).flat();
}

const seenBy = ({ triggerSources }: Context, { privileges }: Caller): TriggerSource[] =>
  triggerSources.filter(({ privilege }) => privileges.has(privilege));

/**
 * Makes the triggers what is given, all or none: what is not among them is deleted, except those of kinds that the caller may
 * not see or that belong elsewhere. Throws the 422 that names the trigger and its key.
 */
export async function putTriggers(
  ctx: Context,
  caller: Caller,
  { flow, stands }: { readonly flow: FlowRow; readonly stands: readonly Trigger[] },
  given: readonly GivenTrigger[],
): Promise<{ readonly triggers: readonly Trigger[]; readonly hints: readonly string[] }> {
  const plans = given.map((one, at) => planOf(ctx, caller, stands, one, `triggers[${at}]`));
  const ids = plans.flatMap(({ before }) => before?.id ?? []);
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) throw invalid({ triggers: [`${twice} stands there twice`] });
  const lost = stands.filter(({ id, kind }) => !ids.includes(id) && sourceOf(ctx, kind)?.ready);
  const changes: readonly Plan[] = [
    ...lost.map((before) => ({ place: before.id, kind: before.kind, before })),
    ...plans,
  ];
  const writes: Write[] = [];
  for (const { place, kind, ...one } of changes) {
    const write = await sourceOf(ctx, kind)?.ready?.({ caller, flowCode: flow.code, ...one });
    if (write) writes.push({ place, write });
  }
  const made = await written(ctx, writes);
  const own = made.map(({ trigger }) => trigger);
  const elsewhere = stands.filter(({ kind }) => !sourceOf(ctx, kind)?.ready);
  const hints = await Promise.all(
    made.map(async ({ place, hints: more }) => (await more()).map((one) => `${place}: ${one}`)),
  );
  const triggers = [...own, ...elsewhere];
  return { triggers, hints: [...hints.flat(), ...(await loopHints(ctx, flow, triggers))] };
}

interface Write {
  readonly place: string;
  readonly write: (together: Together) => Promise<WrittenTrigger | undefined>;
}

async function written(ctx: Context, writes: readonly Write[]) {
  const after: (() => void | Promise<void>)[] = [];
  const made = await ctx.transaction(async (tx) => {
    const together: Together = {
      transaction: (run) => run(tx),
      committed: async (run) => void after.push(run),
    };
    const all: (WrittenTrigger & { readonly place: string })[] = [];
    for (const { place, write } of writes) {
      const one = await write(together).catch((error: unknown) => Promise.reject(placed(error, place)));
      if (one) all.push({ ...one, place });
    }
    return all;
  });
  await ctx.committed(async () => {
    for (const run of after) await run();
  });
  return made;
}

interface Plan {
  readonly place: string;
  readonly kind: string;
  readonly before: Trigger | undefined;
  readonly given?: GivenTrigger;
}

const sourceOf = ({ triggerSources }: Context, kind: string): TriggerSource | undefined =>
  triggerSources.find(({ kinds }) => Object.hasOwn(kinds, kind));

function planOf(ctx: Context, caller: Caller, stands: readonly Trigger[], given: GivenTrigger, place: string): Plan {
  const wrong = (message: string) => invalid({ triggers: [`${place}${message}`] });
  const { id, kind, ...rest } = given;
  const source = sourceOf(ctx, kind);
  if (!source) throw wrong(`.kind must be one of ${kindsOf(ctx).join(", ")}`);
  if (!caller.privileges.has(source.privilege))
    throw forbidden(`\`${place}\`: a trigger of the kind \`${kind}\` needs the privilege \`${source.privilege}\``);
  const keys = source.kinds[kind] ?? [];
  const told = ["active", "path", "trouble", ...(id === undefined ? [] : ["next_run_at", "url"])];
  for (const key of Object.keys(rest))
    if (!keys.includes(key) && !told.includes(key))
      throw wrong(`.${key} is unknown: ${kind} takes ${["active", ...keys].join(", ")}`);
  const before = stands.find((one) => one.id === id);
  if (id !== undefined && !before) throw wrong(`.id names no trigger of this flow`);
  if (before && sourceOf(ctx, before.kind) !== source) throw wrong(`.kind: ${id} is of another kind`);
  if (!source.ready && (!before || [...keys, "active"].some((key) => key in given && given[key] !== before[key])))
    throw wrong(`: a trigger of the kind ${kind} is made and changed where it belongs`);
  return { place, kind, before, given };
}

export const kindsOf = ({ triggerSources }: Pick<Context, "triggerSources">): string[] =>
  triggerSources.flatMap(({ kinds }) => Object.keys(kinds));

/** A mistake of a row, as one of its trigger. */
function placed(error: unknown, place: string): unknown {
  if (!(error instanceof ValidationError)) return error;
  const lines = Object.entries(error.fields).flatMap(([name, messages]) =>
    messages.map((message) =>
      name === "base" ? `${place} ${message}` : `${place}.${name === "kind" ? "on" : name} ${message}`,
    ),
  );
  return invalid({ triggers: lines });
}

const opOf: Readonly<Record<string, string>> = { create: "create", update: "update", destroy: "delete" };

/** Where a flow, or one that it calls, does what starts it. */
export async function loopHints(
  { sql }: Pick<Context, "sql">,
  { accountId, code, fields }: Pick<FlowRow, "accountId" | "code" | "fields">,
  triggers: readonly Trigger[],
): Promise<string[]> {
  const ofRecords = triggers.filter(({ kind, active }) => kind === "record" && active);
  if (ofRecords.length === 0) return [];
  const hints: string[] = [];
  for await (const { place, step } of allSteps(programOf(fields), (codes) => programsOf(sql, accountId, codes))) {
    if (step.type !== "db") continue;
    const table = tableOf(step);
    const started = ofRecords.find(
      (one) =>
        one["db"] === step.db &&
        opOf[String(one["on"])] === step.op &&
        (table === null || !one["table"] || one["table"] === table) &&
        fits(step.data, one),
    );
    if (started)
      hints.push(
        `\`${place}\` does what starts this flow (${started.id}): such a chain of "${code}" is stopped after ${maxDepth} events`,
      );
  }
  return hints;
}

/** Whether a record that is written so may be what the trigger waits for, as far as that is known before the flow runs. */
function fits(data: unknown, { changed, filter }: Trigger): boolean {
  if (!isObject(data)) return true;
  const isOther = ([name, value]: [string, unknown]) =>
    Object.hasOwn(data, name) && !isTemplate(data[name]) && JSON.stringify(data[name]) !== JSON.stringify(value);
  if (isObject(filter) && Object.entries(filter).some(isOther)) return false;
  return !Array.isArray(changed) || changed.length === 0 || changed.some((name) => Object.hasOwn(data, String(name)));
}

/** The step `wait_for`: parks a process until an event comes that a webhook could follow. behaviour B.9. */
import { failpoint, forbidden, HttpError, invalid, isObject, sha256, Type, type ModelEvent } from "platform";
import { Parked, type StepRun, type StepType } from "../../flows/api.ts";
import type { Webhooks } from "../context.ts";
import { isChanged, matches, type Filter } from "../subscriptions/match.ts";
import { isOpen, mustFollow, refusal } from "../subscriptions/rights.ts";
import * as store from "../subscriptions/store.ts";
import { kindsOf } from "../subscriptions/webhook.ts";

const day = 86_400;

const params = Type.Object({
  source_type: Type.String({ maxLength: 200, description: "of the form Module::Model" }),
  kind: Type.String({ maxLength: 100, description: "create, update, destroy or an action of the model" }),
  filter: Type.Object({}, { additionalProperties: true, description: "values that the record must have, exactly" }),
  changed: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 20, description: "as of a webhook" })),
  timeout: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 90 * day, description: "seconds, or a day" })),
  otherwise: Type.Optional(Type.Unknown({ description: "the `data` if nothing comes in time, or the step fails" })),
});

export function waitForStep(webhooks: Webhooks): StepType<typeof params> {
  const { models, rights } = webhooks;
  const modelOf = (name: unknown) => (typeof name === "string" ? models.get(name) : undefined);
  const constant = "must not hold an expression";
  return {
    type: "wait_for",
    doc: "waits for an event: { source_type, event, data }",
    params,
    check({ source_type: name, kind, filter, changed }) {
      const model = modelOf(name);
      const kinds = model ? kindsOf(model) : [];
      const isKind = kinds.some((known) => known === kind);
      const fault = model && isObject(filter) ? mistakeOf(webhooks, model.name, filter) : undefined;
      return {
        source_type: model ? [] : [name === undefined ? constant : `must be one of ${[...models.keys()].join(", ")}`],
        kind: kind === undefined ? [constant] : !model || isKind ? [] : [`must be one of ${kinds.join(", ")}`],
        filter: fault === undefined ? [] : [fault],
        changed: changed && (name !== "Core::Record" || kind !== "update") ? ["is for `update` of `Core::Record`"] : [],
      };
    },
    async allow(caller, { source_type: name, filter }) {
      const model = modelOf(name);
      if (!model) return;
      mustFollow(rights, caller, model.name);
      if (isObject(filter) && !(await isOpen(rights, model, caller.account.id, filter, caller)))
        throw forbidden("you must be able to read all of what its records are part of");
    },
    sample: ({ source_type: name, kind, filter }) => ({
      source_type: name,
      event: kind,
      data: { ...modelOf(name)?.sample, ...(isObject(filter) && filter) },
    }),
    run: (call) => arrived(webhooks, call),
    ended: (on, { accountId, id }) => store.removeWaits(on, accountId, id),
  };
}

type Call = StepRun<(typeof params)["static"]>;

/** The event of the step; parks the process as long as none has come. */
async function arrived(webhooks: Webhooks, call: Call): Promise<unknown> {
  const { sql, flowWaits, now } = webhooks;
  const { accountId, process, key, params: given } = call;
  const place = { accountId, processId: process.id, stepKey: key };
  let wait = await store.findWait(sql, place);
  if (!wait) await make(webhooks, call);
  if (!wait || wait.status === "made") {
    // Whoever writes an event from now on looks whether somebody waits.
    await flowWaits.invalidate(`${accountId}`);
    await store.markWait(sql, place, ["made", "open"]);
    failpoint("webhooks.wait-open");
    wait = await store.findWait(sql, place);
  }
  if (wait?.status === "open" && wait.expiresAt > now()) throw new Parked(wait.expiresAt);
  if (wait?.status === "open" && !(await store.markWait(sql, place, ["open", "expired"])))
    wait = await store.findWait(sql, place);
  const { source_type, kind: event, otherwise } = given;
  if (wait?.status === "come") return { source_type, event, data: wait.data };
  if (otherwise !== undefined) return { timed_out: true, source_type, event: null, data: otherwise };
  await store.removeWaits(sql, accountId, process.id, key);
  throw new HttpError(408, { error: "nothing has come in time" });
}

async function make(webhooks: Webhooks, { accountId, process, key, params: given, authors }: Call): Promise<void> {
  const { source_type: sourceType, kind, filter, changed = null, timeout = day } = given;
  const fault = mistakeOf(webhooks, sourceType, filter);
  if (fault !== undefined) throw invalid({ filter: [fault] });
  const place = { accountId, processId: process.id, stepKey: key, flowCode: process.flowCode };
  const token = tokensOf(filter).at(-1) ?? "";
  const expiresAt = new Date(webhooks.now().getTime() + timeout * 1000);
  const wait = { ...place, sourceType, kind, filter, changed, token, authors: await authors(), expiresAt };
  await store.insertWait(webhooks.sql, wait);
}

/** A record of which nobody knows what it is part of could be anybody's. */
function mistakeOf({ models }: Webhooks, sourceType: string, filter: Filter): string | undefined {
  const key = models.get(sourceType)?.partOf?.key;
  return key !== undefined && typeof filter[key] !== "string" ? `must hold \`${key}\`` : undefined;
}

/** What tells records best comes last: of many waits for one table, an event reads those for its record. */
function tokensOf(data: Filter): string[] {
  const texts = Object.entries(data).filter(([, value]) => typeof value === "string");
  const isPlace = ([name]: [string, unknown]) => name === "db_code" || name === "table_name";
  const sorted = [...texts.filter(isPlace), ...texts.filter((one) => !isPlace(one))];
  return sorted.map((one) => sha256(JSON.stringify(one).normalize("NFC")).slice(0, 16));
}

/** Hands an event to the processes that wait for it. */
export async function serveWaits(webhooks: Webhooks, change: ModelEvent, jobId: number): Promise<void> {
  const { sql, flowWaits, rights, targets } = webhooks;
  const { accountId, sourceType, data } = change;
  if (!(await flowWaits.get(`${accountId}`))) return;
  const waits = await store.waitsFor(sql, change, ["", ...tokensOf(data)], jobId);
  for (const wait of waits) {
    const { processId, flowCode, authors, filter } = wait;
    if (!isChanged(wait.changed, change.changed) || !matches(filter, data)) continue;
    const asked = authors.map((createdById) =>
      refusal(rights, { accountId, sourceType, createdById }, sourceType, () => data),
    );
    if ((await Promise.all(asked)).some(Boolean)) continue;
    await webhooks.transaction(async (tx) => {
      if (await store.markWait(tx, wait, ["open", "come"], JSON.stringify(data)))
        await targets.wake(tx, { accountId, id: processId, flowCode });
    });
    failpoint("webhooks.wait-served");
  }
  if (!(await store.anyWait(sql, accountId))) await flowWaits.invalidate(`${accountId}`);
}

/** The step `ask`: a question that parks a process until somebody has answered it. behaviour B.9. */
import { conflict, HttpError, invalid, isObject, notFound, Type, uuidv7, type Caller, type Tx } from "platform";
import { Parked, type FailingFlow, type StepRun, type StepType } from "../flows/api.ts";
import type { Form } from "../jsondb/api.ts";
import type { InboxContext } from "./context.ts";
import { tellPeople } from "./mails.ts";
import { addressesIn, colleague, isOutside, shownSubject, subjectsFor, subjectsOf } from "./people.ts";
import * as store from "./store.ts";
import type { AskRow, Choice } from "./store.ts";

const day = 86_400;
const standardSeconds = 30 * day;

const One = Type.Union([Type.String({ maxLength: 300 }), Type.Integer()]);
const ChoiceOf = Type.Union([
  Type.String({ minLength: 1, maxLength: 100 }),
  Type.Object({
    value: Type.String({ minLength: 1, maxLength: 100 }),
    label: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Record(Type.String(), Type.String())])),
    color: Type.Optional(Type.String({ maxLength: 30 })),
  }),
]);

const params = Type.Object({
  to: Type.Union([Type.String({ maxLength: 2000 }), Type.Integer(), Type.Array(One, { minItems: 1, maxItems: 20 })], {
    description: "user:7, team:3, department:2, group:4, role:manager, an id, a login or an address; or a list",
  }),
  title: Type.String({ minLength: 1, maxLength: 500 }),
  text: Type.Optional(Type.String({ maxLength: 20_000, description: "Markdown" })),
  fields: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: "what is to be filled in, as the fields of a table" }),
  ),
  choices: Type.Optional(
    Type.Array(ChoiceOf, { minItems: 1, maxItems: 10, description: "default: approve and decline" }),
  ),
  timeout: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 90 * day, description: "seconds, by default 30 days" }),
  ),
  otherwise: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "the choice that counts if nobody answers in time; else the step fails",
    }),
  ),
  remind: Type.Optional(
    Type.Number({ minimum: 60, maximum: 30 * day, description: "seconds after which those asked get a mail again" }),
  ),
});

const standardChoices: readonly Choice[] = [
  { value: "approve", color: "green" },
  { value: "decline", color: "red" },
];

export function askStep(ctx: InboxContext): StepType<typeof params> {
  return {
    type: "ask",
    doc: "asks people, and waits for the answer: { choice, fields, comment, by, at }",
    params,
    privilege: ({ to }) => (isOutside(to) ? "mails" : undefined),
    check({ fields, choices, otherwise }) {
      const read = fields === undefined ? { mistakes: [] } : ctx.databases.formOf(fields, "UTC");
      const known = choicesOf(Array.isArray(choices) ? choices : undefined);
      const values = known.map(({ value }) => value);
      return {
        fields: "mistakes" in read ? read.mistakes : [],
        choices: new Set(values).size < values.length ? ["has the same value twice"] : [],
        otherwise:
          typeof otherwise === "string" && choices !== null && !values.includes(otherwise)
            ? [`must be one of ${values.join(", ")}`]
            : [],
      };
    },
    sample: ({ choices }) => ({
      choice: choicesOf(Array.isArray(choices) ? choices : undefined)[0]?.value ?? "approve",
      fields: {},
      comment: null,
      by: null,
      at: ctx.now().toJSON(),
    }),
    run: (call) => answered(ctx, call),
    ended: (on, { accountId, id }) => store.cancel(on, accountId, id),
  };
}

type Call = StepRun<(typeof params)["static"]>;

/** The answer of the step's question; parks the process as long as there is none. */
async function answered(ctx: InboxContext, call: Call): Promise<unknown> {
  const { accountId, process, key } = call;
  const ask = (await store.ofStep(ctx.sql, accountId, process.id, key)) ?? (await asked(ctx, call));
  if (ask.status === "answered") return resultOf(ask);
  if (ask.expiresAt > ctx.now()) throw new Parked(ask.expiresAt);
  if (!(await store.expire(ctx.sql, accountId, ask.id))) {
    const late = await store.ofStep(ctx.sql, accountId, process.id, key);
    if (late?.status === "answered") return resultOf(late);
  }
  if (ask.otherwise === null) throw new HttpError(408, { error: "nobody has answered in time" });
  const at = ask.expiresAt.toJSON();
  return { choice: ask.otherwise, fields: {}, comment: null, by: null, at, expired: true };
}

async function asked(ctx: InboxContext, { accountId, process, key, params: given }: Call): Promise<AskRow> {
  const { title, text = "", fields = {}, timeout = standardSeconds, otherwise = null, remind = null } = given;
  const choices = choicesOf(given.choices);
  await formAt(ctx, accountId, fields);
  if (otherwise !== null && !choices.some(({ value }) => value === otherwise))
    throw invalid({ otherwise: [`must be one of ${choices.map(({ value }) => value).join(", ")}`] });
  const people = await subjectsOf(ctx.accounts, accountId, given.to);
  if (addressesIn(people).length > 0) await ctx.mail.mustBeSetUp(accountId);
  const expiresAt = new Date(ctx.now().getTime() + timeout * 1000);
  const ask = { accountId, id: uuidv7(), processId: process.id, flowCode: process.flowCode, people, title, text };
  await ctx.transaction(async (tx) => {
    const row = { ...ask, choices, fields, otherwise, stepKey: key, expiresAt, remindSeconds: remind };
    if (await store.insert(tx, row)) await tellPeople(ctx, tx, { ...ask, expiresAt });
  });
  const stored = await store.ofStep(ctx.sql, accountId, process.id, key);
  if (!stored) throw new Error("a question that was stored is there");
  return stored;
}

const choicesOf = (given: readonly unknown[] | undefined): readonly Choice[] =>
  given?.flatMap((one) => {
    if (typeof one === "string") return { value: one };
    if (!isObject(one) || typeof one["value"] !== "string") return [];
    return {
      value: one["value"],
      label: one["label"],
      ...(typeof one["color"] === "string" && { color: one["color"] }),
    };
  }) ?? standardChoices;

/** Throws the 422 that says what is wrong with the fields. */
async function formAt({ accounts, databases }: InboxContext, accountId: number, fields: unknown): Promise<Form> {
  const { timezone = "UTC" } = (await accounts.accountById(accountId)) ?? {};
  const read = databases.formOf(fields, timezone);
  if ("mistakes" in read) throw invalid({ fields: read.mistakes });
  return read.form;
}

function resultOf({ choice, answer, comment, answeredById, answeredBy, endedAt }: AskRow) {
  const by = answeredById === null ? { email: answeredBy } : { id: answeredById, name: answeredBy };
  return { choice, fields: answer ?? {}, comment, by, at: endedAt?.toJSON() ?? null };
}

export interface GivenAnswer {
  readonly choice: string;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly comment?: string | null | undefined;
}

/** Who answers: a person here, or somebody by the link in a mail. */
export interface Answerer {
  readonly id: number | null;
  readonly name: string;
}

/** Stores the answer, and lets the process go on. Throws 409 if the question has ended, 422 for what does not fit. */
export async function giveAnswer(ctx: InboxContext, ask: AskRow, by: Answerer, given: GivenAnswer): Promise<AskRow> {
  if (!ask.choices.some(({ value }) => value === given.choice))
    throw invalid({ choice: [`must be one of ${ask.choices.map(({ value }) => value).join(", ")}`] });
  const form = await formAt(ctx, ask.accountId, ask.fields);
  if (ask.status !== "open") throw ended(ask);
  const values = form.take({ ...given.fields });
  const answer = { choice: given.choice, values, comment: given.comment || null, byId: by.id, by: by.name };
  const done = await ctx.transaction(async (tx) => {
    const row = await store.answer(tx, ask, answer);
    if (row) await wake(ctx, tx, row);
    return row;
  });
  if (done) return done;
  throw ended((await store.find(ctx.sql, ask.accountId, ask.id, ask.people)) ?? ask);
}

const wake = ({ flows }: InboxContext, tx: Tx, { accountId, processId, flowCode }: AskRow) =>
  flows.wake(tx, { accountId, id: processId, flowCode });

function ended({ status, answeredBy }: AskRow): HttpError {
  if (status === "answered") return conflict(`${answeredBy ?? "somebody"} has answered already`);
  return conflict(status === "cancelled" ? "the flow does not wait for it any more" : "the time for an answer is over");
}

/** The question, if it is in the caller's inbox; else 404. */
export async function findAsk({ sql }: InboxContext, { account, user }: Caller, id: string): Promise<AskRow> {
  const ask = await store.find(sql, account.id, id, subjectsFor(user, account.id));
  if (!ask) throw notFound();
  return ask;
}

/** From then on it is in the inbox of others alone. */
export async function passOn(ctx: InboxContext, caller: Caller, id: string, to: string): Promise<AskRow> {
  const ask = await findAsk(ctx, caller, id);
  const whom = await colleague(ctx.accounts, caller, to);
  if (ask.status !== "open") throw ended(ask);
  const passed = { by: caller.user.name, to: shownSubject(whom), at: ctx.now().toJSON() };
  return ctx.transaction(async (tx) => {
    const row = await store.passOn(tx, ask, whom, passed);
    if (!row) throw conflict("it has just been answered or passed on");
    await tellPeople(ctx, tx, row);
    return row;
  });
}

/** As the API shows it. */
export function toItem(ask: AskRow) {
  const { id, title, text, choices, fields, status, flowCode, processId, choice, answer, comment, answeredBy } = ask;
  return {
    id,
    kind: "ask" as const,
    title,
    text,
    choices,
    fields,
    otherwise: ask.otherwise,
    status,
    to: ask.people.map(shownSubject),
    passed_on: ask.passedOn,
    flow_code: flowCode,
    flow_process_id: processId,
    choice,
    answer,
    comment,
    answered_by: answeredBy,
    expires_at: ask.expiresAt.toJSON(),
    created_at: ask.createdAt.toJSON(),
    read_at: ask.endedAt?.toJSON() ?? null,
  };
}

/** It is there as long as the flow fails: a run that goes well takes it away. Why it failed is for those who see runs. */
export function toFailure({ id, name: title, count, since, code, lastRunId }: FailingFlow) {
  const common = { id, kind: "failure" as const, title, text: "", count, created_at: since.toJSON(), read_at: null };
  return { ...common, flow_code: code, flow_process_id: lastRunId };
}

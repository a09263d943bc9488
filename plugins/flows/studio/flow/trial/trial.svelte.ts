/**
 * A test of a flow where it stands: with a real record, what an earlier run was given, or an input that is typed. What
 * steps only read is read for real; what would change something outside is left out, unless the person wants it called.
 */
import {
  ApiError,
  furtherOf,
  get,
  isMap,
  KeptDraft,
  mapsIn,
  messageOf,
  parseJson,
  request,
  session,
  text,
  textOf,
  type Start,
} from "studio";
import { brief, failedAt, flattened, knownIn, needsOf, pathOfResult } from "./trial.ts";
import type { Need, Result, Tried } from "./trial.ts";
import { rowsAt, type Codes } from "../program/codes.svelte.ts";
import type { Program } from "../program/tree.ts";
import { sampleOf } from "../when.ts";

/** Something to test with. */
export interface Sample {
  readonly id: string;
  readonly title: string;
  readonly input: unknown;
}

const mostSamples = 8;
const mostRounds = 30;

export class Trial {
  /** JSON, as it was typed or taken from a sample. */
  input = $state("{}");
  /** Which sample it is; "" of one that was typed. */
  chosen = $state("");
  samples = $state.raw<readonly Sample[]>([]);
  /** Actions of connections that change something: really called in tests. */
  reallyCalls = $state.raw<readonly string[]>([]);
  /** What is left out is to have answered: JSON as it was typed, by connection and action or by the path of a step. */
  answers = $state.raw<Readonly<Record<string, string>>>({});
  /** What came of steps that were run for real, by their paths: later steps of a test get it. */
  tried = $state.raw<Readonly<Record<string, Tried>>>({});
  wrongInput = $state("");
  problem = $state("");
  busy = $state(false);
  result = $state.raw<Result>();
  /** The program that was tested. */
  private program = $state.raw<Program>([]);
  readonly known = $derived(knownIn(this.program, parsed(this.input), this.result));
  readonly failed = $derived(this.result && failedAt(this.program, this.result));
  /** What each step has given, by its path. */
  readonly outcomes = $derived(
    new Map(
      (this.result?.steps ?? []).flatMap((step) => {
        const path = pathOfResult(this.program, step.id);
        return path === undefined ? [] : [[path, step] as const];
      }),
    ),
  );
  private readonly path: string;
  private readonly draft: KeptDraft;

  constructor(id: string) {
    this.path = `/connect/flows/${encodeURIComponent(id)}`;
    this.draft = new KeptDraft(`${this.path}/test`);
    const { "": input } = this.draft.take();
    if (typeof input === "string") this.input = input;
  }

  get inputKeys(): readonly string[] {
    const input = parsed(this.input);
    return isMap(input) ? Object.keys(input) : [];
  }

  /** The records that might start it, and what started it before. */
  async look(starts: readonly Start[], code: string, codes: Codes): Promise<void> {
    const found = await Promise.all([...starts.map((start) => this.samplesOf(start, codes)), this.runs(code)]);
    this.samples = found.flat().slice(0, mostSamples);
    const [first] = this.samples;
    const isGone = this.chosen !== "" && !this.samples.some(({ id }) => id === this.chosen);
    if (first && (isGone || (this.chosen === "" && this.input === "{}"))) this.choose(first);
  }

  choose({ id, input }: Sample): void {
    this.type(JSON.stringify(input, null, 2));
    this.chosen = id;
  }

  type(input: string): void {
    this.input = input;
    this.chosen = "";
    this.wrongInput = "";
    this.draft.keep({ "": input });
  }

  private async samplesOf(start: Start, codes: Codes): Promise<Sample[]> {
    if (start.kind === "cron")
      return [{ id: start.key, title: text.time(Date.now()), input: sampleOf(start, undefined) }];
    if (start.kind === "hook") return arrived(start);
    if (start.db === "" || !session.may("dbs")) return [];
    const path = `/core/dbs/${encodeURIComponent(start.db)}/records.json`;
    const query = new URLSearchParams({ limit: "5", ...(start.table !== "" && { table_name: start.table }) });
    const fitting = new URLSearchParams(query);
    for (const [name, value] of Object.entries(furtherOf(start))) fitting.set(`filter[${name}]`, textOf(value));
    const found = await rowsAt(`${path}?${fitting}`);
    // Where none fits yet, any is taken as if it did.
    const rows = found.length > 0 ? found : await rowsAt(`${path}?${query}`);
    const title = codes.table(start.db, start.table)?.titleField ?? "";
    return rows.map((row) => {
      const data = { ...(isMap(row["data"]) ? row["data"] : {}), ...start.filter };
      return {
        id: `${start.key} ${textOf(row["id"])}`,
        title: brief(data, title) || textOf(row["id"]),
        input: sampleOf(start, { ...row, data }),
      };
    });
  }

  private async runs(code: string): Promise<Sample[]> {
    const rows = await rowsAt(
      `/connect/flow_processes.json?${new URLSearchParams({ flow_code: code, limit: "3", steps: "false", count: "false" })}`,
    );
    return rows
      .filter(({ input }) => isMap(input) && !("truncated" in input))
      .map((row) => ({ id: textOf(row["id"]), title: text.time(textOf(row["created_at"])), input: row["input"] }));
  }

  /** Runs the program as it stands in the form; nothing outside is changed that was not asked for. `really`: the path of a step that is. */
  async test(program: Program, codes: Codes, really?: string): Promise<void> {
    const input = parsed(this.input.trim() === "" ? "{}" : this.input);
    if (this.busy) return;
    if (!isMap(input)) {
      this.wrongInput = text.messages.notJson;
      return;
    }
    this.busy = true;
    this.problem = "";
    try {
      if (really !== undefined) this.tried = without(this.tried, really);
      await this.rounds(program, input, codes, really);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.result = undefined;
      this.problem = [error.message, ...(error.errors["program"] ?? [])].join(" ");
    } finally {
      this.busy = false;
    }
  }

  /** Each round knows what the one before has asked for. */
  private async rounds(program: Program, input: unknown, codes: Codes, really: string | undefined): Promise<void> {
    const answers: Record<string, unknown> = {};
    const leftOut: string[] = [];
    for (let round = 0; round < mostRounds; round++) {
      const { json } = await request("POST", `${this.path}/test.json?include=inputs`, {
        body: { input, program, answers },
      });
      this.program = program;
      this.result = resultOf(json, leftOut);
      const needs = needsOf(this.result, (id) => Object.hasOwn(answers, id));
      if (needs.length === 0) return;
      for (const need of needs) {
        const path = pathOfResult(program, need.id) ?? need.id;
        // Of a step in a loop the first time is run for real, and the others are answered as it was.
        if (need.kind === "own" && path === really && !this.tried[path])
          this.tried = { ...this.tried, [path]: await reallyDone(need.step) };
        const tried = this.tried[path];
        if (need.kind === "own" && tried) {
          answers[need.id] = answered(tried);
          continue;
        }
        const isLeft = need.kind === "own" || (need.kind === "call" && !this.isCalled(need, codes));
        if (isLeft) leftOut.push(path);
        answers[need.id] = isLeft ? this.standIn(need, path) : await answerTo(need);
      }
    }
  }

  private standIn(need: Need, path: string): unknown {
    const typed = this.answers[need.kind === "call" ? `${need.connector}.${need.method}` : path];
    return (typed === undefined ? undefined : parsed(typed)) ?? {};
  }

  /** One that only reads is called. */
  private isCalled({ connector, method }: Need & { kind: "call" }, codes: Codes): boolean {
    const verb = codes.methodsOf(connector).find(({ name }) => name === method)?.verb;
    return verb === "GET" || verb === "HEAD" || this.reallyCalls.includes(`${connector}.${method}`);
  }
}

/** The latest messages, those too that came while the flow was off. */
async function arrived(start: Start): Promise<Sample[]> {
  const path = `/connect/hooks/${start.id}/arrivals`;
  const rows = start.id === "" ? [] : await rowsAt(`${path}.json?limit=3`);
  const messages = rows.map(async (row): Promise<Sample> => {
    const id = textOf(row["id"]);
    const whole = (await get(`${path}/${id}.json`)).json;
    const { headers, query, body, message_id } = isMap(whole) ? whole : {};
    const input = sampleOf(start, { id, message_id, headers, query, body: parsed(textOf(body)) ?? body });
    return { id: `${start.key} ${id}`, title: text.time(textOf(row["created_at"])), input };
  });
  const found = (await Promise.allSettled(messages)).flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  return found.length > 0
    ? found
    : [{ id: start.key, title: text.time(Date.now()), input: sampleOf(start, undefined) }];
}

async function answerTo(need: Exclude<Need, { kind: "own" }>): Promise<unknown> {
  try {
    if (need.kind === "record") {
      const { json } = await get(need.path);
      return Array.isArray(json) ? flattened(mapsIn(json)) : json;
    }
    const path = `/connect/connectors/${encodeURIComponent(need.connector)}/methods/${encodeURIComponent(need.method)}/try`;
    const { json } = await request("POST", path, { body: { params: need.params } });
    return answered(triedIn(json));
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function reallyDone(step: unknown): Promise<Tried> {
  try {
    return triedIn((await request("POST", "/connect/flow_steps/try.json", { body: { step } })).json);
  } catch (error) {
    return triedIn({ error: messageOf(error) });
  }
}

function triedIn(json: unknown): Tried {
  const { ok, status, headers, data = null, error } = isMap(json) ? json : {};
  return {
    ok: ok === true,
    status: typeof status === "number" ? status : null,
    headers: isMap(headers) ? headers : {},
    data,
    error: textOf(error),
  };
}

/** What a test is told that the step has answered. */
function answered({ ok, status, data, error }: Tried): unknown {
  if (ok) return { status: 200, data };
  return status !== null && status >= 400 ? { status, data } : { error };
}

function without<T>(all: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));
}

function parsed(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}

function resultOf(json: unknown, leftOut: readonly string[]): Result {
  const { status, data, error, steps } = isMap(json) ? json : {};
  return {
    status: textOf(status),
    data,
    error: textOf(error),
    leftOut: [...leftOut],
    steps: (Array.isArray(steps) ? steps : []).filter(isMap).map((step) => ({
      id: textOf(step["id"]),
      type: textOf(step["type"]),
      status: textOf(step["status"]),
      input: step["input"],
      output: step["output"],
      error: textOf(step["error"]),
      warnings: Array.isArray(step["warnings"]) ? step["warnings"].map(String) : [],
    })),
  };
}

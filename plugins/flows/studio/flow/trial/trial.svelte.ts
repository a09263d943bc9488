/** A test of a flow, and a start: the input and the answers as they were typed, and what came of it. */
import { ApiError, isMap, KeptDraft, parseJson, request, text, textOf } from "studio";
import { missedIn } from "./trial.ts";
import type { Program } from "../program/tree.ts";

export interface StepResult {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  /** Its input, if known. */
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string;
  readonly warnings: readonly string[];
}

export interface Result {
  readonly status: string;
  readonly data: unknown;
  readonly error: string;
  readonly steps: readonly StepResult[];
  /** Of a start. */
  readonly process?: string;
}

export class Trial {
  /** JSON, as it was typed. */
  input = $state("{}");
  answers = $state.raw<Readonly<Record<string, string>>>({});
  /** Names that tests have missed. */
  asked = $state.raw<readonly string[]>([]);
  /** Errors in the input, and in the answers by their names. */
  messages = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  problem = $state("");
  busy = $state(false);
  tested = $state.raw<Result>();
  started = $state.raw<Result>();
  private readonly path: string;
  private readonly draft: KeptDraft;

  constructor(id: string) {
    this.path = `/connect/flows/${encodeURIComponent(id)}`;
    this.draft = new KeptDraft(`${this.path}/test`);
    const { "": input, ...answers } = this.draft.take();
    if (typeof input === "string") this.input = input;
    this.answers = Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, textOf(value)]));
  }

  get inputKeys(): readonly string[] {
    const input = parsed(this.input);
    return isMap(input) ? Object.keys(input) : [];
  }

  type(name: string, value: string): void {
    if (name === "") this.input = value;
    else this.answers = { ...this.answers, [name]: value };
    this.messages = { ...this.messages, [name]: [] };
    this.draft.keep({ "": this.input, ...this.answers });
  }

  /** Runs the program as it stands in the form, without any effect. */
  async test(program: Program, names: readonly string[]): Promise<void> {
    const read = this.read(names);
    if (!read) return;
    await this.send(async () => {
      const { json } = await request("POST", `${this.path}/test.json?include=inputs`, { body: { ...read, program } });
      this.tested = resultOf(json);
      const missed = missedIn(this.tested.error);
      if (missed !== undefined && !names.includes(missed)) this.asked = [...this.asked, missed];
    });
  }

  /** Starts a process of the program that is saved. */
  async start(): Promise<void> {
    const read = this.read([]);
    if (!read) return;
    await this.send(async () => {
      const { json } = await request("POST", `${this.path}/run.json`, { body: read.input });
      this.started = { ...resultOf(json), process: isMap(json) ? textOf(json["flow_process_id"]) : "" };
    });
  }

  private async send(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.problem = "";
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.problem = error.message;
      if (error.errors["input"]) this.messages = { ...this.messages, "": error.errors["input"] };
    } finally {
      this.busy = false;
    }
  }

  /** Undefined if something that was typed is no JSON. An answer that is left empty is not given. */
  private read(names: readonly string[]): { input: unknown; answers: Record<string, unknown> } | undefined {
    const wrong: Record<string, string[]> = {};
    const input = parsed(this.input.trim() === "" ? "{}" : this.input);
    if (input === undefined) wrong[""] = [text.messages.notJson];
    const answers: Record<string, unknown> = {};
    for (const name of names) {
      const typed = (this.answers[name] ?? "").trim();
      if (typed === "") continue;
      const value = parsed(typed);
      if (value === undefined) wrong[name] = [text.messages.notJson];
      else answers[name] = value;
    }
    this.messages = wrong;
    return Object.keys(wrong).length > 0 ? undefined : { input, answers };
  }
}

function parsed(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}

function resultOf(json: unknown): Result {
  const { status, data, error, steps } = isMap(json) ? json : {};
  return {
    status: textOf(status),
    data,
    error: textOf(error),
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

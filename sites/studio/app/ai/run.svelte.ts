/**
 * A model that works here: it calls the tools of `/mcp` with a narrowed token, every call is shown, and a person is asked
 * before anything is changed. The model never sees the token.
 */
import { request } from "../server/request.ts";
import { isMap, textOf } from "../resources/values.ts";
import { withoutSecrets } from "./agent.ts";
import { askedText, bounds, callsOf, resultText, ruleOf, subjectOf, toolsOf } from "./tools.ts";
import type { Rule, Tool, ToolCall } from "./tools.ts";

/** What happened, in order: words of the model, or a call. */
export interface RunEntry {
  readonly text: string;
  readonly call?: ToolCall;
  readonly state: "said" | "running" | "done" | "failed" | "refused";
}

export interface RunOptions {
  readonly connector: string;
  readonly token: string;
  /** Without any secret. */
  readonly system: string;
  readonly task: string;
}

/** Of the connector's `chat`. */
interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

interface Question {
  readonly tool: Tool;
  /** What the answer may be a rule for. */
  readonly subject: string;
  /** What the call would do, whole. */
  readonly text: string;
}

/** A bound that was reached, by its name in the texts. */
export class Bounded extends Error {}

export class Run {
  happened = $state.raw<readonly RunEntry[]>([]);
  busy = $state(false);
  problem = $state("");
  isBounded = $state(false);
  usage = $state.raw({ input: 0, output: 0 });
  /** The call that a person decides on. */
  question = $state.raw<Question | undefined>();
  private readonly rules = new Map<string, Rule>();
  private decide: (allowed: boolean) => void = () => {};
  private stopping = new AbortController();

  async begin(options: RunOptions): Promise<void> {
    if (this.busy) return;
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    const late = setTimeout(() => this.stopping.abort(new Bounded()), bounds.minutes * 60_000);
    Object.assign(this, { busy: true, problem: "", isBounded: false, happened: [] });
    this.rules.clear();
    this.usage = { input: 0, output: 0 };
    try {
      await this.work(options, signal);
    } catch (error) {
      const fault: unknown = signal.aborted ? signal.reason : error;
      this.isBounded = fault instanceof Bounded;
      if (!signal.aborted && !this.isBounded) this.problem = fault instanceof Error ? fault.message : String(fault);
    } finally {
      clearTimeout(late);
      this.busy = false;
      this.question = undefined;
    }
  }

  stop(): void {
    this.stopping.abort();
    this.decide(false);
  }

  /** What the person says to the question; `rule` holds for its subject until the end of the run. */
  answer(allowed: boolean, rule?: Rule): void {
    if (rule && this.question) this.rules.set(this.question.subject, rule);
    this.decide(allowed);
  }

  private async work({ connector, token, system, task }: RunOptions, signal: AbortSignal): Promise<void> {
    const tools = toolsOf(await rpc("tools/list", {}, token, signal));
    const offered = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    const messages: Message[] = [{ role: "user", content: task }];
    let calls = 0;
    for (let turn = 0; ; turn++) {
      if (turn === bounds.turns || this.usage.input + this.usage.output > bounds.tokens) throw new Bounded();
      const data = await this.turn(connector, { system, messages, tools: offered }, signal);
      const wanted = callsOf(data);
      const text = textOf(data["text"]);
      if (text !== "") this.add({ text, state: "said" });
      if (wanted.length === 0) return;
      messages.push({ role: "assistant", content: text, tool_calls: wanted });
      for (const call of wanted) {
        if (++calls > bounds.calls) throw new Bounded();
        const tool = tools.find(({ name }) => name === call.name);
        messages.push({ role: "tool", tool_call_id: call.id, content: await this.call(call, tool, token, signal) });
      }
    }
  }

  private async turn(
    connector: string,
    body: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { json } = await request("POST", `/connect/connectors/${encodeURIComponent(connector)}/chat.json`, {
      body,
      signal,
    });
    signal.throwIfAborted();
    const data = isMap(json) && isMap(json["data"]) ? json["data"] : {};
    if (isMap(data["usage"])) {
      const { input_tokens: input, output_tokens: output } = data["usage"];
      this.usage = { input: this.usage.input + Number(input), output: this.usage.output + Number(output) };
    }
    return data;
  }

  /** The result, as the model reads it. */
  private async call(call: ToolCall, tool: Tool | undefined, token: string, signal: AbortSignal): Promise<string> {
    if (!tool || !(await this.isAllowed(call, tool, signal))) {
      this.add({ text: "", call, state: "refused" });
      return "The person has refused this call. Do not try it again; say what you need instead.";
    }
    const at = this.add({ text: "", call, state: "running" });
    try {
      const { text, failed } = resultText(
        await rpc("tools/call", { name: call.name, arguments: call.arguments }, token, signal),
      );
      this.set(at, { text, call, state: failed ? "failed" : "done" });
      return withoutSecrets(text);
    } catch (error) {
      signal.throwIfAborted();
      const text = error instanceof Error ? error.message : String(error);
      this.set(at, { text, call, state: "failed" });
      return text;
    }
  }

  private async isAllowed(call: ToolCall, tool: Tool, signal: AbortSignal): Promise<boolean> {
    const subject = subjectOf(call);
    const rule = ruleOf(tool, subject, this.rules);
    if (rule !== "ask") return rule === "always";
    const text = askedText(call);
    if (text === undefined) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.decide = resolve;
    this.question = { tool, subject, text };
    signal.addEventListener("abort", () => resolve(false), { once: true });
    const allowed = await promise;
    this.question = undefined;
    signal.throwIfAborted();
    return allowed;
  }

  private add(one: RunEntry): number {
    this.happened = [...this.happened, one];
    return this.happened.length - 1;
  }
  private set(at: number, one: RunEntry): void {
    this.happened = this.happened.with(at, one);
  }
}

/** One message of the protocol, with the token and without the session's cookie. */
async function rpc(method: string, params: unknown, token: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch("/mcp", {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    credentials: "omit",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal,
  });
  const json: unknown = await response.json().catch(() => undefined);
  const fault = isMap(json) ? json["error"] : undefined;
  if (!response.ok || fault !== undefined || !isMap(json))
    throw new Error(isMap(fault) ? textOf(fault["message"]) : textOf(fault) || String(response.status));
  return json["result"];
}

/** A conversation with a model: its messages, the answer as it comes in, and what it has cost. */
import { personHeader, refusalOf } from "../server/request.ts";
import { connection } from "../state/connection.svelte.ts";
import { isMap, textOf } from "../resources/values.ts";
import { createEventParser, type StreamEvent } from "./agent.ts";

export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface ChatRequest {
  readonly code: string;
  readonly connector: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly app_id?: string;
}

export class Conversation {
  messages = $state.raw<readonly ChatMessage[]>([]);
  /** The answer so far; undefined while nothing is asked. */
  answer = $state<string | undefined>();
  problem = $state("");
  usage = $state.raw({ input: 0, output: 0 });
  private stopping: AbortController | undefined;
  private readonly cutOff: () => string;

  /** `cutOff`: what is said of an answer without an end. */
  constructor(cutOff: () => string) {
    this.cutOff = cutOff;
  }

  async ask(request: ChatRequest, words: string): Promise<void> {
    if (this.answer !== undefined) return;
    const messages: ChatMessage[] = [...this.messages, { role: "user", content: words }];
    this.messages = messages;
    this.problem = "";
    this.answer = "";
    const stop = new AbortController();
    this.stopping = stop;
    try {
      await this.read(await send(request, messages, stop.signal));
    } catch (error) {
      if (!stop.signal.aborted) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.stopping === stop) this.finish();
    }
  }

  /** What has come so far stays. */
  stop(): void {
    this.stopping?.abort();
    this.finish();
  }

  clear(): void {
    this.stop();
    this.messages = [];
    this.problem = "";
    this.usage = { input: 0, output: 0 };
  }

  private finish(): void {
    if (this.answer) this.messages = [...this.messages, { role: "assistant", content: this.answer }];
    // A question without an answer is asked again, not told twice.
    else if (this.answer !== undefined) this.messages = this.messages.slice(0, -1);
    this.answer = undefined;
    this.stopping = undefined;
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parse = createEventParser();
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let ended = false;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const event of parse(decoder.decode(value, { stream: true }))) {
        ended ||= event.name !== "text";
        this.take(event);
      }
    }
    if (!ended && this.answer !== undefined) throw new Error(this.cutOff());
  }

  private take({ name, data }: StreamEvent): void {
    if (this.answer === undefined) return; // stopped
    if (name === "text") this.answer += textOf(data["text"]);
    else if (name === "error") this.problem = textOf(data["error"]);
    else if (isMap(data["usage"])) {
      const { input_tokens: input, output_tokens: output } = data["usage"];
      this.usage = { input: this.usage.input + Number(input), output: this.usage.output + Number(output) };
    }
  }
}

async function send(
  { code, ...request }: ChatRequest,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  for (;;) {
    const response = await fetch(`/core/prompts/${encodeURIComponent(code)}/chat`, {
      method: "POST",
      headers: { ...personHeader(), "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ ...request, messages }),
      signal,
    });
    if (response.ok && response.body) return response.body;
    if (response.status !== 401)
      throw refusalOf(response.status, await response.json().catch(() => response.statusText));
    await connection.signedInAgain();
  }
}

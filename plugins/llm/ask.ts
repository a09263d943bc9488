/** Asks a model once, within limits of time and size, and says in words what went wrong. */
import { OutboundFault, parseExactly, parseRetryAfter, type BaseContext } from "platform";
import type { Usage } from "../connectors/api.ts";
import { limits, type Chat, type ModelServer, type ToolCall } from "./chat.ts";
import { AnswerFault, callsOf, errorIn, newDraft, type Draft, type Stop } from "./draft.ts";
import { addressOf, anthropic, openai } from "./protocols.ts";

export interface Answer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stop: Stop;
  readonly model: string;
}

export interface Result {
  /** Null if the call has failed. */
  readonly answer: Answer | null;
  readonly error: string | null;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
  readonly usage: Usage | undefined;
}

export interface ModelCallOptions {
  readonly secret: string | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onText?: ((text: string) => void) | undefined;
}

const protocols = { openai, anthropic };

type Fetched = Awaited<ReturnType<BaseContext["fetch"]>>;

/** Throws only the reason of the caller's own signal. */
export async function askModel(
  fetch: BaseContext["fetch"],
  server: ModelServer,
  chat: Chat,
  options: ModelCallOptions,
): Promise<Result> {
  const draft = newDraft(options.onText);
  const result = { answer: null, error: null, status: null, retryAfterSeconds: null };
  try {
    const response = await send(fetch, server, chat, options, draft);
    const { status } = response;
    const retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"));
    if (status < 200 || status >= 300)
      return { ...result, status, retryAfterSeconds, usage: undefined, error: refusal(status, response.text()) };
    return { ...result, status, answer: answerOf(draft, server, chat), usage: draft.usage };
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    const message = messageOf(error, server);
    if (message === undefined) throw error;
    const status = error instanceof OutboundFault ? (error.status ?? null) : null;
    return { ...result, status, usage: draft.usage, error: message };
  }
}

async function send(
  fetch: BaseContext["fetch"],
  server: ModelServer,
  chat: Chat,
  { secret, timeoutMs, signal, onText }: ModelCallOptions,
  draft: Draft,
): Promise<Fetched> {
  const protocol = protocols[server.api];
  const { hostname: host } = new URL(server.url);
  const events = createEventReader(
    (data) => protocol.event(draft, data),
    () => (draft.ended = true),
  );
  let streamed = false;
  const response = await fetch(addressOf(server.url, protocol.place), {
    method: "POST",
    headers: { "content-type": "application/json", ...protocol.headers(secret) },
    body: JSON.stringify(protocol.body(chat, { model: server.model, host }, onText !== undefined)),
    timeoutMs,
    maxBytes: limits.bytes,
    redirect: "same-origin",
    ...(signal && { signal }),
    onPart(part, { status, headers }) {
      streamed ||= status === 200 && /event-stream/i.test(headers.get("content-type") ?? "");
      if (streamed) events.add(part);
    },
  });
  if (streamed) events.end();
  // Some servers answer in one piece although they were asked for a stream.
  else if (response.status >= 200 && response.status < 300) protocol.whole(draft, wholeOf(response));
  return response;
}

function wholeOf(response: Fetched): unknown {
  try {
    return parseExactly(response.text());
  } catch {
    throw new AnswerFault("the model's server answered with what is not JSON");
  }
}

function answerOf(draft: Draft, server: ModelServer, { tools }: Chat): Answer {
  if (draft.error !== undefined) throw new AnswerFault(`the model's server broke off: ${draft.error}`);
  if (!draft.ended) throw new AnswerFault("the model's answer broke off before its end");
  const offered = tools.map(({ name }) => name);
  const toolCalls = draft.stop === "length" ? [] : callsOf(draft, offered);
  const text = draft.text.replaceAll("\0", "").toWellFormed();
  if (text === "" && toolCalls.length === 0 && draft.stop !== "length" && draft.stop !== "refused")
    throw new AnswerFault("the model's answer is empty, or not in the protocol that `api` names");
  return { text, toolCalls, stop: draft.stop ?? "end", model: draft.model ?? server.model };
}

function refusal(status: number, text: string): string {
  const advice: Readonly<Record<number, string>> = {
    401: "is the secret_token right?",
    403: "may the secret_token use this model?",
    404: "are the url and the model right?",
    429: "it asks for a pause, or the credit is used up",
  };
  let said: string | undefined;
  try {
    said = errorIn(JSON.parse(text));
  } catch {
    said = text.trim().slice(0, 200) || undefined;
  }
  const reason = said ?? advice[status];
  return `the model's server answered ${status}${reason === undefined ? "" : `: ${reason}`}`;
}

/** Undefined for what is nobody's fault out there. */
function messageOf(error: unknown, { url }: ModelServer): string | undefined {
  if (error instanceof AnswerFault) return error.message;
  if (!(error instanceof OutboundFault)) return undefined;
  const { host } = new URL(url);
  if (error.kind === "refused-address")
    return `${error.message}: a model on this machine or in this network (Ollama, llama.cpp) needs OUTBOUND_ALLOW=${host}`;
  if (error.kind === "connect") return `${error.message}: is the model's server running?`;
  if (error.kind === "timeout") return `the model gave no complete answer in time: ${error.message}`;
  return error.message;
}

/** Calls `onData` with the JSON of each event, until `[DONE]`, for which it calls `onDone`. */
function createEventReader(onData: (data: unknown) => void, onDone: () => void) {
  const decoder = new TextDecoder();
  let rest = "";
  const line = (text: string) => {
    if (!text.startsWith("data:")) return;
    const data = text.slice(5).trim();
    if (data === "") return;
    if (data === "[DONE]") return onDone();
    onData(jsonOf(data));
  };
  return {
    add(part: Uint8Array): void {
      const lines = decoder.decode(part, { stream: true }).split("\n");
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      for (const one of lines) line(one);
    },
    end(): void {
      line(rest);
      rest = "";
    },
  };
}

/** Every protocol here has one line of JSON in an event. */
function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new AnswerFault("the model's server sent an event that is not JSON");
  }
}

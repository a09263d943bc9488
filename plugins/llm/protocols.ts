/** The protocols of models: Anthropic's messages, and OpenAI's chat completions. Pure. */
import { isObject } from "platform";
import type { Chat, Message } from "./chat.ts";
import { addCall, countTokens, errorIn, type Draft, type Stop } from "./draft.ts";

/** Unlike others, it wants a limit with every call. */
const standardTokens = 4096;

const stops: Readonly<Record<string, Stop>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "refused",
};

type Data = Readonly<Record<string, unknown>>;

export const anthropic: Protocol = {
  place: "/messages",
  headers: (secret) => ({ "anthropic-version": "2023-06-01", ...(secret !== null && { "x-api-key": secret }) }),
  body({ system, messages, tools, maxTokens = standardTokens, temperature }: Chat, { model }, stream) {
    return {
      model,
      max_tokens: maxTokens,
      ...(system !== "" && { system }),
      messages: joined(messages),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
      }),
      // Its scale ends at 1.
      ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
      ...(stream && { stream: true }),
    };
  },
  whole(draft, data) {
    if (!isObject(data)) return;
    readStart(draft, data);
    const blocks: unknown[] = Array.isArray(data["content"]) ? data["content"] : [];
    for (const [at, block] of blocks.entries()) if (isObject(block)) readBlock(draft, at, block);
    readStop(draft, data);
    draft.ended = true;
  },
  event(draft, data) {
    if (!isObject(data)) return;
    const { type, message, index, content_block: block, delta } = data;
    if (type === "message_start" && isObject(message)) readStart(draft, message);
    else if (type === "content_block_start" && isObject(block)) readBlock(draft, index, { ...block, input: undefined });
    else if (type === "content_block_delta" && isObject(delta)) {
      draft.say(delta["text"]);
      if (delta["type"] === "input_json_delta") addCall(draft, index, { text: delta["partial_json"] });
    } else if (type === "message_delta" && isObject(delta)) {
      readStop(draft, delta);
      readUsage(draft, data);
    } else if (type === "message_stop") draft.ended = true;
    else if (type === "error") draft.error = errorIn(data) ?? "an error without words";
  },
};

function readStart(draft: Draft, message: Data): void {
  if (typeof message["model"] === "string") draft.model = message["model"];
  readUsage(draft, message);
}

/** Tokens read from a cache, or written to one, count as input. */
function readUsage(draft: Draft, { usage }: Data): void {
  if (!isObject(usage)) return;
  const { input_tokens: plain, output_tokens: output } = usage;
  const cached = [usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]];
  const input = cached.reduce<unknown>(
    (sum, one) => (typeof sum === "number" && typeof one === "number" ? sum + one : sum),
    plain,
  );
  countTokens(draft, input, output);
}

function readStop(draft: Draft, { stop_reason: reason }: Data): void {
  if (typeof reason === "string") draft.stop = stops[reason] ?? "end";
}

function readBlock(draft: Draft, at: unknown, { type, text, id, name, input }: Data): void {
  if (type === "text") draft.say(text);
  else if (type === "tool_use") addCall(draft, at, { id, name, text: isObject(input) ? JSON.stringify(input) : "" });
}

/** The results of several calls belong into one message. */
function joined(messages: readonly Message[]) {
  const list: { role: "user" | "assistant"; content: unknown[] }[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = list.at(-1);
    if (last?.role === role) last.content.push(...blocksOf(message));
    else list.push({ role, content: blocksOf(message) });
  }
  return list.filter(({ content }) => content.length > 0);
}

function blocksOf(message: Message): unknown[] {
  const { content } = message;
  if (message.role === "tool") return [{ type: "tool_result", tool_use_id: message.toolCallId, content }];
  const text = content === "" ? [] : [{ type: "text", text: content }];
  if (message.role === "user") return text;
  return [
    ...text,
    ...message.toolCalls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
  ];
}

const finishes: Readonly<Record<string, Stop>> = {
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "refused",
};

/** The protocol of OpenAI's chat completions, which Ollama, llama.cpp, vLLM and most gateways speak too. Pure. */
export const openai: Protocol = {
  place: "/chat/completions",
  headers: (secret) => (secret === null ? {} : { authorization: `Bearer ${secret}` }),
  body({ system, messages, tools, schema, maxTokens, temperature }: Chat, { model, host }, stream) {
    const first = system === "" ? [] : [{ role: "system", content: system }];
    // Its own service has renamed it; other servers know only the old name.
    const limit = host === "api.openai.com" ? "max_completion_tokens" : "max_tokens";
    return {
      model,
      messages: [...first, ...messages.map(messageTo)],
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
      ...(schema && { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } }),
      ...(maxTokens !== undefined && { [limit]: maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(stream && { stream: true, stream_options: { include_usage: true } }),
    };
  },
  whole(draft, data) {
    read(draft, data, "message");
    draft.ended = true;
  },
  event(draft, data) {
    read(draft, data, "delta");
  },
};

function messageTo(message: Message) {
  const { role, content } = message;
  if (role === "tool") return { role, content, tool_call_id: message.toolCallId };
  if (role === "user" || message.toolCalls.length === 0) return { role, content };
  const calls = message.toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  }));
  return { role, content: content === "" ? null : content, tool_calls: calls };
}

/** A whole answer says `message` where an event says `delta`. */
function read(draft: Draft, data: unknown, part: "message" | "delta"): void {
  if (!isObject(data)) return;
  if (data["error"]) draft.error = errorIn(data) ?? "an error without words";
  if (typeof data["model"] === "string") draft.model = data["model"];
  if (isObject(data["usage"])) countTokens(draft, data["usage"]["prompt_tokens"], data["usage"]["completion_tokens"]);
  const choice: unknown = Array.isArray(data["choices"]) ? data["choices"][0] : undefined;
  if (!isObject(choice)) return;
  const said = choice[part];
  if (isObject(said)) {
    draft.say(said["content"]);
    const calls: unknown[] = Array.isArray(said["tool_calls"]) ? said["tool_calls"] : [];
    for (const call of calls) if (isObject(call)) readCall(draft, call);
    if (typeof said["refusal"] === "string" && said["refusal"] !== "") draft.stop = "refused";
  }
  const ended = choice["finish_reason"];
  if (typeof ended !== "string") return;
  draft.stop ??= finishes[ended] ?? "end";
  draft.ended = true;
}

function readCall(draft: Draft, { index, id, function: called }: Readonly<Record<string, unknown>>): void {
  const { name, arguments: given } = isObject(called) ? called : {};
  addCall(draft, index, { id, name, text: isObject(given) ? JSON.stringify(given) : given });
}

export interface Target {
  readonly model: string;
  readonly host: string;
}

export interface Protocol {
  /** Below the address of the API. */
  readonly place: string;
  readonly headers: (secret: string | null) => Record<string, string>;
  readonly body: (chat: Chat, target: Target, stream: boolean) => unknown;
  /** Reads an answer that came in one piece. */
  readonly whole: (draft: Draft, data: unknown) => void;
  /** Reads one event of a stream. */
  readonly event: (draft: Draft, data: unknown) => void;
}

/** `https://host`, `https://host/v1` and the whole address are all right. */
export function addressOf(url: string, place: string): string {
  const target = new URL(url);
  let path = target.pathname;
  while (path.endsWith("/")) path = path.slice(0, -1);
  if (path.endsWith(place)) return `${target.origin}${path}`;
  return `${target.origin}${path === "" ? "/v1" : path}${place}`;
}

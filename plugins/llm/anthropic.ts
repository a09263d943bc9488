/** The protocol of Anthropic's messages. Pure. */
import { isObject } from "platform";
import type { Chat, Message } from "./chat.ts";
import { addCall, countTokens, errorIn, type Draft, type Stop } from "./draft.ts";
import type { Protocol } from "./protocol.ts";

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

/** What is read from a cache, or written to one, is input too. */
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

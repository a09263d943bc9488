/**
 * A language model on this machine for tests. It speaks both protocols, whole and streamed, and says what it is told to.
 *
 *     const model = startModel();
 *     model.turns.push({ text: "Hello!" });
 */
import { startReceiver, type Received, type Receiver } from "./receiver.ts";

export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly usage?: readonly [input: number, output: number];
}

export interface ModelServer extends Receiver {
  /** What it says next; without a turn it repeats the last message. */
  readonly turns: Turn[];
  /** What it was asked, as JSON. */
  readonly asked: () => Record<string, unknown>[];
}

export function startModel(): ModelServer {
  const receiver = startReceiver();
  const turns: Turn[] = [];
  receiver.answer = (received) => spoken(received, turns.shift() ?? { text: "as you say", usage: [10, 3] });
  const asked = () => receiver.requests.map(({ body }): Record<string, unknown> => JSON.parse(body));
  return Object.assign(receiver, { turns, asked });
}

/** The turn in the protocol of the request. */
export function spoken({ path, body }: Pick<Received, "path" | "body">, turn: Turn): Response {
  const streamed: boolean = JSON.parse(body).stream === true;
  const events = path.endsWith("/messages") ? anthropicEvents(turn) : openaiEvents(turn);
  if (streamed) return new Response(events.map(printed).join(""), eventStream);
  return Response.json(path.endsWith("/messages") ? anthropicWhole(turn) : openaiWhole(turn));
}

export const eventStream = { headers: { "content-type": "text/event-stream" } };

function printed(data: unknown): string {
  return `event: any\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** Small parts, as models give them. */
function partsOf(text: string): string[] {
  return text.match(/[^]{1,4}/g) ?? [];
}

function openaiEvents({ text = "", calls = [], usage = [10, 3] }: Turn): unknown[] {
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    model: "double-1",
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: "assistant", content: "" }),
    ...partsOf(text).map((content) => chunk({ content })),
    ...calls.flatMap(({ id, name, arguments: given }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...partsOf(JSON.stringify(given)).map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    { choices: [], usage: { prompt_tokens: usage[0], completion_tokens: usage[1] } },
    "[DONE]",
  ];
}

function openaiWhole({ text = "", calls = [], usage = [10, 3] }: Turn) {
  const tool_calls = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  }));
  const message = { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls }) };
  return {
    model: "double-1",
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: usage[0], completion_tokens: usage[1] },
  };
}

function anthropicEvents({ text = "", calls = [], usage = [10, 3] }: Turn): unknown[] {
  const block = (index: number, content_block: unknown, deltas: unknown[]) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  return [
    { type: "message_start", message: { model: "double-1", usage: { input_tokens: usage[0], output_tokens: 1 } } },
    { type: "ping" },
    ...block(
      0,
      { type: "text", text: "" },
      partsOf(text).map((part) => ({ type: "text_delta", text: part })),
    ),
    ...calls.flatMap(({ id, name, arguments: given }, at) =>
      block(
        at + 1,
        { type: "tool_use", id, name, input: {} },
        partsOf(JSON.stringify(given)).map((part) => ({ type: "input_json_delta", partial_json: part })),
      ),
    ),
    {
      type: "message_delta",
      delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" },
      usage: { output_tokens: usage[1] },
    },
    { type: "message_stop" },
  ];
}

function anthropicWhole({ text = "", calls = [], usage = [10, 3] }: Turn) {
  const uses = calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input }));
  return {
    model: "double-1",
    content: [...(text === "" ? [] : [{ type: "text", text }]), ...uses],
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: { input_tokens: usage[0], output_tokens: usage[1] },
  };
}

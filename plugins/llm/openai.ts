/** The protocol of OpenAI's chat completions, which Ollama, llama.cpp, vLLM and most gateways speak too. Pure. */
import { isObject } from "platform";
import type { Chat, Message } from "./chat.ts";
import { addCall, countTokens, errorIn, type Draft, type Stop } from "./draft.ts";
import type { Protocol } from "./protocol.ts";

const stops: Readonly<Record<string, Stop>> = {
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "refused",
};

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
  draft.stop ??= stops[ended] ?? "end";
  draft.ended = true;
}

function readCall(draft: Draft, { index, id, function: called }: Readonly<Record<string, unknown>>): void {
  const { name, arguments: given } = isObject(called) ? called : {};
  addCall(draft, index, { id, name, text: isObject(given) ? JSON.stringify(given) : given });
}

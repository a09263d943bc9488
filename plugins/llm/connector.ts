/** `core/llm`: the method `chat` asks a language model. behaviour B.9. */
import { isHeaderValue, type CallOutcome, type ConnectorKind, type KindCall, type Usage } from "../connectors/api.ts";
import { HttpError, invalid, ValidationError, type BaseContext } from "platform";
import type { Prompts } from "../prompts/api.ts";
import { askModel, type ModelCallOptions, type Result } from "./ask.ts";
import { chatOf, chatParameters, checkDefinition, connectorFields, limits, serverOf } from "./chat.ts";
import type { ChatRequest, Chat, ModelServer } from "./chat.ts";
import { jsonIn } from "./draft.ts";
import { answerMistake } from "./schema.ts";

export const kindName = "core/llm";

type Fetch = BaseContext["fetch"];
type Rendering = Pick<Prompts, "renderForAccount">;

export function modelConnector(fetch: Fetch, prompts: Rendering): ConnectorKind {
  return {
    name: kindName,
    fields: connectorFields,
    needsUrl: true,
    maxSeconds: limits.seconds,
    atOnce: limits.atOnce,
    // It costs money and takes whole conversations: never public, and no record's keys are its parameters.
    methods: () => [{ name: "chat", public: false, onlyByName: true, parameters: chatParameters }],
    check: checkDefinition,
    secretMistake: (secret) => (isHeaderValue(secret) ? undefined : "must be what a header can carry: Latin letters"),
    async call({ accountId, url, fields, secret }, call) {
      const asked = chatOf(call.params);
      const server = serverOf(url, fields);
      const chat = chatWith(asked, await promptText(prompts, accountId, asked), server);
      return outcomeOf(fetch, server, chat, { ...call, secret });
    },
  };
}

/** Throws a 422 for an unknown prompt, and for one that cannot be filled in. */
async function promptText(prompts: Rendering, accountId: number, { prompt }: ChatRequest): Promise<string | undefined> {
  if (!prompt) return undefined;
  try {
    return (await prompts.renderForAccount(accountId, prompt.code, prompt.variables)).text;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error instanceof ValidationError) throw invalid({ prompt: Object.values(error.fields).flat() });
    throw invalid({ prompt: [`is not the code of a prompt of the account: ${prompt.code.slice(0, 100)}`] });
  }
}

/** A prompt alone is the first message; before messages it is what the model is told about them. */
function chatWith(chat: ChatRequest, prompt: string | undefined, { maxTokens }: ModelServer): Chat {
  const alone = chat.messages.length === 0;
  const system = [chat.system, alone ? "" : (prompt ?? ""), rule(chat)].filter((text) => text !== "").join("\n\n");
  return {
    ...chat,
    system,
    messages: alone ? [{ role: "user", content: prompt ?? "" }] : chat.messages,
    maxTokens: chat.maxTokens ?? maxTokens,
  };
}

function rule({ schema }: Chat): string {
  if (!schema) return "";
  return `Answer with one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}

type Call = Pick<KindCall, "timeoutMs" | "signal" | "onText"> & Pick<ModelCallOptions, "secret">;

async function outcomeOf(fetch: Fetch, server: ModelServer, chat: Chat, call: Call): Promise<CallOutcome> {
  const startedAt = performance.now();
  const timeoutMs = Math.min(call.timeoutMs, server.seconds * 1000);
  const ask = (asked: Chat) => {
    const left = Math.max(1, timeoutMs - (performance.now() - startedAt));
    return askModel(fetch, server, asked, { ...call, timeoutMs: left, onText: chat.schema ? undefined : call.onText });
  };
  let result = await ask(chat);
  let { usage } = result;
  let read = readAnswer(chat, result);
  if (result.answer && read.mistake !== undefined) {
    result = await ask(mended(chat, result.answer.text, read.mistake));
    usage = sum(usage, result.usage);
    read = readAnswer(chat, result);
  }
  const { status, answer, retryAfterSeconds } = result;
  const error =
    result.error ?? (read.mistake === undefined ? null : `the answer does not fit the schema: ${read.mistake}`);
  const data = answer && dataOf(answer, usage, read.json);
  const durationMs = Math.round(performance.now() - startedAt);
  return { ok: error === null, status, data, error, retryAfterSeconds, durationMs, usage };
}

/** Maximum length of an answer that is checked against a schema. */
const maxJsonChars = 200_000;

type ModelAnswer = NonNullable<Result["answer"]>;

function dataOf({ text, toolCalls, stop, model }: ModelAnswer, usage: Usage | undefined, json: unknown) {
  return { text, ...(json !== undefined && { json }), tool_calls: toolCalls, stop, model, usage: usage ?? null };
}

/** The answer as JSON, if it is to fit a schema. A call of a tool comes before the answer. */
function readAnswer({ schema }: Chat, { answer }: Result): { json?: unknown; mistake?: string | undefined } {
  if (!schema || !answer || answer.toolCalls.length > 0) return {};
  if (answer.text.length > maxJsonChars) return { mistake: `the answer has more than ${maxJsonChars} characters` };
  const json = jsonIn(answer.text);
  if (json === undefined) return { mistake: "the answer is not JSON" };
  return { json, mistake: answerMistake(schema, json) };
}

/** The same call once more, with the mistake told. */
function mended(chat: Chat, text: string, mistake: string): Chat {
  const content = `That does not fit the schema: ${mistake}. Answer again, with nothing but the right JSON.`;
  return {
    ...chat,
    messages: [...chat.messages, { role: "assistant", content: text, toolCalls: [] }, { role: "user", content }],
  };
}

function sum(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other;
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
  };
}

/** A model's answer while it comes in. Its server may be anything, so nothing in it is believed unread. Pure. */
import { isObject, parseJson } from "platform";
import type { Usage } from "../connectors/api.ts";
import type { ToolCall } from "./chat.ts";

export const stops = ["end", "length", "tool_calls", "refused"] as const;
/** Why the model ended: it was ready, the limit of tokens, a call of a tool, or it would not say more. */
export type Stop = (typeof stops)[number];

interface OpenCall {
  id: string;
  name: string;
  /** JSON, as far as it has come. */
  text: string;
}

export interface Draft {
  /** Adds to the text, and tells whoever listens. */
  readonly say: (text: unknown) => void;
  text: string;
  readonly calls: Map<number, OpenCall>;
  stop: Stop | undefined;
  /** Whether the protocol's own end was seen. */
  ended: boolean;
  usage: Usage | undefined;
  model: string | undefined;
  /** The error that the server reported in the middle of its answer. */
  error: string | undefined;
}

/** A fault of an answer as a whole. */
export class AnswerFault extends Error {}

const maxCalls = 64;

export function newDraft(onText?: (text: string) => void): Draft {
  const draft: Draft = {
    say: (text) => {
      if (typeof text !== "string" || text === "") return;
      draft.text += text;
      onText?.(text);
    },
    text: "",
    calls: new Map(),
    stop: undefined,
    ended: false,
    usage: undefined,
    model: undefined,
    error: undefined,
  };
  return draft;
}

/** Adds to the call with this number. */
export function addCall(draft: Draft, index: unknown, { id, name, text }: Readonly<Record<string, unknown>>): void {
  const at = typeof index === "number" ? index : draft.calls.size;
  const call = draft.calls.get(at) ?? { id: "", name: "", text: "" };
  draft.calls.set(at, call);
  if (draft.calls.size > maxCalls) throw new AnswerFault(`the model called more than ${maxCalls} tools at once`);
  if (typeof id === "string" && id !== "") call.id = id;
  if (typeof name === "string" && name !== "") call.name = name;
  if (typeof text === "string") call.text += text;
}

/** A number of tokens as a server gave it; later numbers of one answer replace earlier ones. */
export function countTokens(draft: Draft, input: unknown, output: unknown): void {
  const { input_tokens = 0, output_tokens = 0 } = draft.usage ?? {};
  if (!isCount(input) && !isCount(output)) return;
  draft.usage = {
    input_tokens: isCount(input) ? input : input_tokens,
    output_tokens: isCount(output) ? output : output_tokens,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000;
}

/** The calls in order, with their arguments. Throws AnswerFault for a tool that was not offered. */
export function callsOf({ calls }: Draft, offered: readonly string[]): ToolCall[] {
  return [...calls.values()].map(({ id, name, text }) => {
    if (!offered.includes(name))
      throw new AnswerFault(`the model called the tool "${name.slice(0, 100)}", which it was not given`);
    const given = jsonIn(text === "" ? "{}" : text);
    if (!isObject(given)) throw new AnswerFault(`the model called the tool "${name}" with what is not a JSON object`);
    return { id, name, arguments: given };
  });
}

/** The JSON of a text, which may stand in a fence of Markdown; undefined if it is none. */
export function jsonIn(text: string): unknown {
  const trimmed = text.trim();
  const fenced = trimmed.startsWith("```") && trimmed.endsWith("```") && trimmed.includes("\n");
  try {
    return parseJson(fenced ? trimmed.slice(trimmed.indexOf("\n"), -3) : trimmed);
  } catch {
    return undefined;
  }
}

/** The message of a server's error, in the forms that the protocols and their imitations have. */
export function errorIn(data: unknown): string | undefined {
  if (!isObject(data)) return undefined;
  const error = data["error"] ?? data["detail"] ?? data["message"];
  const message = isObject(error) ? (error["message"] ?? error["type"]) : error;
  return typeof message === "string" && message.trim() !== "" ? message.trim().slice(0, 1_000) : undefined;
}

/** Tools that a model may call here, and which calls need a person's consent. Pure. */
import { isMap, textOf } from "../resources/values.ts";

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly reads: boolean;
  readonly destroys: boolean;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type Rule = "always" | "never" | "ask";

/** For one run: whoever needs more begins another one. */
export const bounds = { turns: 30, calls: 60, tokens: 500_000, minutes: 10 };
const mostTools = 64;
const mostChars = 60_000;
/** Nobody reads more before they allow it; an app's source has at most 200,000 characters. */
const mostAsked = 250_000;

/** Of `tools/list`. Models take no longer or other names. */
export function toolsOf(result: unknown): Tool[] {
  const listed: unknown[] = isMap(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
  return listed
    .filter(isMap)
    .flatMap(({ name, description, inputSchema, annotations }) => {
      const { readOnlyHint, destructiveHint } = isMap(annotations) ? annotations : {};
      if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) return [];
      const parameters = isMap(inputSchema) ? inputSchema : { type: "object" };
      return {
        name,
        description: textOf(description),
        parameters,
        reads: readOnlyHint === true,
        destroys: destructiveHint === true,
      };
    })
    .slice(0, mostTools);
}

/** What a rule is said of: who lets prompts be made has not let webhooks be made. */
export function subjectOf({ name, arguments: given }: ToolCall): string {
  const { resource, in: parent } = isMap(given) ? given : {};
  const plain = [resource, parent].filter((word) => typeof word === "string" && /^[\w.-]{1,100}$/.test(word));
  return [name, ...plain].join(" ");
}

/** Calls that only read need no consent; calls that may destroy need it each time. `chosen`: by subject. */
export function ruleOf(tool: Tool | undefined, subject: string, chosen: ReadonlyMap<string, Rule>): Rule {
  if (!tool) return "never";
  const rule = chosen.get(subject) ?? (tool.reads ? "always" : "ask");
  return tool.destroys && !tool.reads && rule === "always" ? "ask" : rule;
}

/**
 * What a call would do, for a person who decides on it: the whole, with every character that cannot be seen, or turns
 * the others around, written out. Undefined if it is too long to be decided on.
 */
export function askedText({ arguments: given }: ToolCall): string | undefined {
  const written = JSON.stringify(given, null, 2).replaceAll(/[\p{C}\p{DI}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu, (character) =>
    character === "\n" ? character : unitsOf(character),
  );
  return written.length > mostAsked ? undefined : written;
}

function unitsOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}

export function callsOf(data: unknown): ToolCall[] {
  const calls: unknown[] = isMap(data) && Array.isArray(data["tool_calls"]) ? data["tool_calls"] : [];
  return calls
    .filter(isMap)
    .map((call) => ({ id: textOf(call["id"]), name: textOf(call["name"]), arguments: call["arguments"] ?? {} }));
}

/** The text of a tool's result, as the model reads it. */
export function resultText(result: unknown): { readonly text: string; readonly failed: boolean } {
  const content: unknown[] = isMap(result) && Array.isArray(result["content"]) ? result["content"] : [];
  const text = content.map((part) => (isMap(part) ? textOf(part["text"]) : "")).join("\n");
  const failed = isMap(result) && result["isError"] === true;
  return { text: text.length > mostChars ? `${text.slice(0, mostChars)}…` : text, failed };
}

/** Decisions of the pages of prompts. Pure. */
import type { CodeWord, Version as Logged } from "studio";

/** A version, or a prompt as it is now. */
export interface PromptFields {
  readonly name: string;
  readonly code: string;
  readonly content: string;
  readonly kind: string;
  readonly scope: string;
  readonly scope_id: number | null;
  readonly ai_placeholder: string | null;
}

export type Version = PromptFields & Logged;

/** A prompt in a list. */
export interface PromptItem {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly code: string;
  readonly scope: string;
  readonly scope_id: number | null;
}

export interface BuiltIn {
  readonly code: string;
  readonly name: string | null;
  readonly kind: string;
  readonly ai_placeholder: string | null;
  readonly plugin: string;
}

/** A step of the cascade, as the API tells it. */
export interface Step {
  readonly id: string | null;
  readonly name: string | null;
  readonly scope: "user" | "team" | "department" | "account" | "built_in";
  readonly scope_id: number | null;
  readonly scope_name: string | null;
  readonly plugin: string | null;
  readonly used: boolean;
}

export interface Cascade {
  readonly code: string;
  readonly user_id: number;
  readonly prompts: readonly Step[];
  readonly extras: readonly Step[];
}

export interface AgentItem {
  /** Null if it is built in. */
  readonly id: string | null;
  readonly code: string;
  readonly name: string;
}

/** The prompts of agents, one of each code: a stored one hides the built-in one. Instructions (`…_api`) and additions are none. */
export function agentsOf(stored: readonly PromptItem[], builtIns: readonly BuiltIn[]): AgentItem[] {
  const byCode = new Map<string, AgentItem>();
  for (const { id = null, code, name, kind } of [...stored, ...builtIns.map((one) => ({ ...one, id: null }))])
    if (kind === "agent" && !/_(?:api|extra)$/.test(code) && !byCode.has(code))
      byCode.set(code, { id, code, name: name ?? code });
  return [...byCode.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

interface Rung {
  readonly scope: Step["scope"];
  readonly step: Step | undefined;
}

/** The rungs of a ladder: those that exist, and one for each place where there is none. */
export function rungsOf(steps: readonly Step[]): Rung[] {
  return (["user", "team", "department", "account", "built_in"] as const).flatMap((scope): Rung[] => {
    const there = steps.filter((step) => step.scope === scope);
    if (there.length === 0) return scope === "built_in" ? [] : [{ scope, step: undefined }];
    return there.map((step) => ({ scope, step }));
  });
}

const suffix = "_extra";

/** The code that a prompt is appended to; undefined if it is no `_extra`. */
export function extendedCode(code: string): string | undefined {
  return code.endsWith(suffix) && code !== suffix ? code.slice(0, -suffix.length) : undefined;
}

export function extraCode(code: string): string {
  return code + suffix;
}

/** Everybody may override for themselves; what every agent obeys takes a manager. */
function mayOverrideForAll(role: string): boolean {
  return role === "admin" || role === "manager";
}

/** A code that is still being typed is left out of a preview. */
export function isCode(code: string): boolean {
  return code.length <= 100 && /^[A-Za-z0-9][\w.-]*$/.test(code) && !code.endsWith(".") && !code.includes("..");
}

export type Reach = "user" | "account";

/** Where a person could store a prompt with a code, of which these are the stored ones. */
export function freeReaches(
  stored: readonly Pick<PromptFields, "scope" | "scope_id">[],
  { id, role }: { readonly id: number; readonly role: string },
): Reach[] {
  const forMe = !stored.some(({ scope, scope_id }) => scope === "user" && scope_id === id);
  const forAll = mayOverrideForAll(role) && !stored.some(({ scope }) => scope === "account");
  return [...(forMe ? (["user"] as const) : []), ...(forAll ? (["account"] as const) : [])];
}

const compared = ["name", "code", "kind", "scope", "scope_id", "ai_placeholder"] as const;

/** The fields beside the content in which two versions differ. */
export function differences(before: PromptFields, after: PromptFields): { field: string; from: string; to: string }[] {
  return compared
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, from: String(before[field] ?? "–"), to: String(after[field] ?? "–") }));
}

/** Which two versions are compared: those of the address if they exist, else the last two. */
export function comparedVersions(
  versions: readonly number[],
  from: string | null,
  to: string | null,
): { from: number; to: number } | undefined {
  const [latest, before] = versions;
  if (latest === undefined || before === undefined) return undefined;
  const given = (value: string | null) => versions.find((version) => String(version) === value);
  const second = given(to) ?? latest;
  const first = given(from) ?? versions[versions.indexOf(second) + 1] ?? before;
  return { from: first, to: second };
}

/** The built-in prompts that a search finds: all its words are in the code, the name or the plugin. */
export function found(all: readonly BuiltIn[], search: string): BuiltIn[] {
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ code, name, plugin }) => {
    const text = `${code} ${name ?? ""} ${plugin}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** The server says in English what a variable is; what the messages know of it stands there instead. */
export function toldIn(words: readonly CodeWord[], messages: Readonly<Record<string, string>>): readonly CodeWord[] {
  return words.map((word) => {
    const detail = word.type === "variable" ? messages[`variable_${word.label}`] : undefined;
    return detail === undefined ? word : { ...word, detail };
  });
}

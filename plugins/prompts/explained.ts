/** Why a person gets the prompt that they get: everything with its code that is for them, the first one first. */
import type { BuiltIn } from "./built-in.ts";
import { inOrder, isOf, suffix, type PromptScope, type Reader } from "./cascade.ts";

/** A stored prompt by what tells it from others with its code. */
export interface NamedPrompt extends PromptScope {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly version: number;
}

export interface Step {
  /** Null for a built-in file. */
  readonly id: string | null;
  readonly name: string | null;
  readonly scope: PromptScope["scope"] | "built_in";
  readonly scopeId: number | null;
  readonly version: number | null;
  /** The plugin of a built-in prompt. */
  readonly plugin: string | null;
  readonly used: boolean;
}

export interface ResolutionSteps {
  readonly prompts: readonly Step[];
  /** Prompts with the code `<code>_extra`. */
  readonly extras: readonly Step[];
}

/** Pure. `rows` may hold those of others. */
export function explained(
  rows: readonly NamedPrompt[],
  builtIn: ReadonlyMap<string, BuiltIn>,
  code: string,
  reader: Reader,
): ResolutionSteps {
  const prompts = stepsOf(rows, builtIn, code, reader);
  const extras = stepsOf(rows, builtIn, code + suffix, reader);
  // An `_extra` alone is not a prompt.
  const isUsed = prompts.length > 0;
  return {
    prompts: prompts.map((step, at) => ({ ...step, used: at === 0 })),
    extras: extras.map((step, at) => ({ ...step, used: isUsed && at === 0 })),
  };
}

function stepsOf(
  rows: readonly NamedPrompt[],
  builtIn: ReadonlyMap<string, BuiltIn>,
  code: string,
  reader: Reader,
): Omit<Step, "used">[] {
  const theirs = rows.filter((row) => row.code === code && isOf(row, reader)).toSorted(inOrder);
  const file = builtIn.get(code);
  return [
    ...theirs.map(({ id, name, scope, scopeId, version }) => ({ id, name, scope, scopeId, version, plugin: null })),
    ...(file
      ? [{ id: null, name: file.name, scope: "built_in" as const, scopeId: null, version: null, plugin: file.plugin }]
      : []),
  ];
}

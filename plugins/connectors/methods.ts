/** The methods of a connector as people choose one: what each does and which parameters it takes. Pure. */
import type { MethodFacts } from "./api.ts";
import { recordOf } from "./definition.ts";
import { placeholders } from "./fill.ts";

export function describedMethods(methods: readonly MethodFacts[], fields: Readonly<Record<string, unknown>>) {
  const declared = recordOf(fields["methods"]) ?? {};
  return methods.map(({ name, public: isPublic, parameters }) => {
    const method = recordOf(declared[name]);
    const description = method?.["description"];
    return {
      name,
      description: typeof description === "string" ? description : null,
      parameters: [...(parameters ?? parametersOf(method))],
      public: isPublic,
    };
  });
}

/** Of `{event.data.id}` it is `event`. */
export function parametersOf(method: Readonly<Record<string, unknown>> = {}): string[] {
  const { description: _, ...rest } = method;
  const texts = Object.values(rest).flatMap(textsIn);
  return [...new Set(texts.flatMap((text) => placeholders(text)).map((name) => name.split(".")[0] ?? name))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

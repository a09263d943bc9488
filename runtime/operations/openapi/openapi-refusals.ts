/** The answers of each status, unless a route says otherwise. */
import type { TSchema } from "@sinclair/typebox";
import { answer } from "../../http/answers/answers.ts";

const { error, fieldErrors } = answer;
const wrapped = answer.object("WrappedErrors", { errors: fieldErrors });
export const usualSchemas = [error, fieldErrors, wrapped];

const table: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  204: "No content",
  301: "Moved permanently",
  303: "See other",
  304: "As you have it",
  400: "The request cannot be read",
  401: "No working credential",
  403: "The privilege is missing, or the origin is another one",
  404: "Not found",
  405: "Another method is needed",
  408: "The body arrives too slowly",
  409: "It conflicts with an earlier request, or with what there is",
  412: "The object has changed (If-Match)",
  413: "The body is too large",
  415: "Not of a type that is taken here",
  422: "Fields to messages",
  429: "Too many requests, see Retry-After",
  502: "The remote failed, or does not answer",
  503: "Not at this moment, see Retry-After",
  508: "A change that leads back to itself, again and again",
};
const headers: Readonly<Record<number, string>> = {
  301: "Location",
  303: "Location",
  401: "WWW-Authenticate",
  429: "Retry-After",
  503: "Retry-After",
};

interface Usual {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Undefined if the body is empty or the route has its own. */
  readonly schema: TSchema | undefined;
}

export function usualResponse(status: number, isWrapped = false): Usual {
  const header = headers[status];
  return {
    description: table[status] ?? "Answer",
    ...(header && { headers: { [header]: { schema: { type: "string" } } } }),
    schema: status < 400 ? undefined : status !== 422 ? error : isWrapped ? wrapped : fieldErrors,
  };
}

/** Components, so that each of a thousand refusals is only a reference. */
export const sharedResponses = Object.fromEntries(
  [...Object.keys(table).map(Number), "default" as const].map((status) => {
    const usual =
      status === "default"
        ? { description: "Unforeseen; `request_id` finds it in the log", headers: undefined, schema: error }
        : usualResponse(status);
    const { schema, headers: usualHeaders, ...more } = usual;
    const content = schema && { "application/json": { schema: { $ref: `#/components/schemas/${schema.$id}` } } };
    const shown = { ...usualHeaders, Warning: { $ref: "#/components/headers/Warning" } };
    return [status, { ...more, headers: shown, ...(content && { content }) }];
  }),
);

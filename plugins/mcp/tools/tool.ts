/** A tool: its facts, and a run that goes through the same routes as the REST API. */
import { checkerOf, invalid, isNumber, isObject, Type, unknownNames } from "platform";
import type { SubrequestOptions, Caller, InnerAnswer, Route, Static, TObject } from "platform";
import type { ToolResult } from "../answer.ts";
import { isOpen, type ApiResources } from "../things.ts";

/** Hints for clients, in the protocol's own words, as far as they differ from what it assumes without them. */
interface Annotations {
  readonly readOnlyHint?: true;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: true;
  /** Whether it may reach other services. */
  readonly openWorldHint: boolean;
}

/** One agent's connection: who it is, and its way to the routes. */
export interface Session {
  readonly caller: Caller;
  readonly things: ApiResources;
  readonly routes: readonly Route[];
  readonly ask: (asking: Omit<SubrequestOptions, "token">) => Promise<InnerAnswer>;
  /** Whether the token may delete here. */
  readonly mayDelete: () => Promise<boolean>;
  /** Notes in the log of activity that the caller may not do this. */
  readonly refused: (what: string) => void;
  /** Replaces the token's text. */
  readonly withoutToken: (text: string) => string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly input: TObject;
  /** Whether this caller has any use of it. */
  readonly isFor: (session: Session) => boolean | Promise<boolean>;
  readonly run: (given: unknown, session: Session) => Promise<ToolResult>;
}

interface Facts<S extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly reads?: true;
  readonly destroys?: true;
  readonly repeats?: true;
  readonly reachesOut?: true;
  readonly input: S;
  /** The routes that it asks, e.g. `POST /core/dbs/:db_id/batch`: of them the caller must have one. */
  readonly routes: readonly string[] | ((session: Session) => boolean | Promise<boolean>);
  readonly run: (args: Static<S>, session: Session) => Promise<ToolResult>;
}

export function tool<S extends TObject>(facts: Facts<S>): Tool {
  const check = checkerOf(facts.input);
  const { routes } = facts;
  return {
    name: facts.name,
    title: facts.title,
    description: facts.description,
    annotations: {
      ...(facts.reads ? { readOnlyHint: true } : { destructiveHint: facts.destroys === true }),
      ...(facts.repeats && { idempotentHint: true }),
      openWorldHint: facts.reachesOut === true,
    },
    input: facts.input,
    isFor: typeof routes === "function" ? routes : (session) => hasOneOf(session, routes),
    run: async (given, session) => {
      mustKnow(facts.input, given);
      return facts.run(check(given), session);
    },
  };
}

/** An id, a code or a key; a dot alone would lead to another address. */
export const idInput = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Integer()], { description });

/** What TypeBox cannot say: it knows no numbers of more digits than JavaScript's. */
export function isFilterValue(given: unknown): boolean {
  return typeof given === "string" || typeof given === "boolean" || isNumber(given);
}

export function segment(name: string, given: string | number): string {
  const text = String(given);
  if (/^\.{1,2}$/.test(text)) throw invalid({ [name]: ["is no id or code"] });
  return encodeURIComponent(text);
}

function hasOneOf({ routes, caller }: Session, wanted: readonly string[]): boolean {
  return routes.some((route) => wanted.includes(`${route.method} ${route.path}`) && isOpen(route, caller));
}

/** A misspelt argument must not be dropped silently: a search without its filter finds everything. */
function mustKnow(input: TObject, given: unknown): void {
  if (!isObject(given)) throw invalid({ base: ["the arguments must be an object"] });
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(input.properties, name));
  const [hint] = unknownNames(unknown, Object.keys(input.properties), () => "is no argument");
  if (hint !== undefined) throw invalid({ [(unknown[0] ?? "").slice(0, 100)]: [hint] });
}

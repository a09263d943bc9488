/** One rendering: a single object with everything that it reads besides its template, and everything it has used. */
import type { Context } from "liquidjs";
import type { GuardedLiquid } from "./liquid-engine.ts";
import { guarded, GuardedContext, limits as standardLimits } from "./liquid-guard.ts";
import type { FilterFunction, Partials, Run, RunLimits } from "./liquid-guard.ts";

export interface LiquidOptions {
  /** IANA name or "+02:00". */
  timezone?: string;
  locale?: string;
  /** Templates that others may load. Without them there are no `render`, `include`, `layout` and `block` tags. */
  partials?: Partials;
  /** Lower limits, for templates that any visitor can render. */
  limits?: Partial<RunLimits>;
}

export interface RenderOptions<Data = undefined> {
  /** Replace the filters registered under these names, for this rendering. */
  filters?: Record<string, FilterFunction>;
  partials?: Partials;
  timezone?: string;
  locale?: string;
  /** The time that `now` and `today` mean. */
  clock?: () => Date;
  random?: () => number;
  /** For tags: see `Liquid.dataOf`. */
  data?: Data;
}

export interface Runs<Data> {
  readonly start: (variables: object, given: RenderOptions<Data>, settings?: { sync: boolean }) => GuardedContext;
  readonly dataOf: (context: Context) => Data | undefined;
}

export function createRuns<Data>(engine: GuardedLiquid, options: LiquidOptions): Runs<Data> {
  const limits = { ...standardLimits, ...options.limits };
  const data = new WeakMap<Run, Data>();
  return {
    start(variables, given, settings = { sync: true }) {
      const run = newRun(options, limits, given);
      if (given.data !== undefined) data.set(run, given.data);
      // A copy without a prototype, because `increment` writes into it and nothing may be inherited.
      const scope: object = Object.assign(Object.create(null), variables);
      return new GuardedContext(run, scope, engine.options, settings, { liquid: engine });
    },
    dataOf: (context) => data.get(guarded(context).run),
  };
}

function newRun(options: LiquidOptions, limits: RunLimits, given: RenderOptions<unknown>): Run {
  return {
    limits,
    timezone: given.timezone ?? options.timezone ?? "UTC",
    locale: given.locale ?? options.locale ?? "en",
    now: given.clock ?? (() => new Date()),
    random: given.random ?? Math.random,
    partials: given.partials ?? options.partials,
    filters: given.filters ?? {},
    steps: 0,
    nesting: 0,
    weights: new WeakMap(),
  };
}

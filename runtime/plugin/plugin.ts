/**
 * What a plugin is: facts as plain data (listed, migrated and documented without starting anything), and `setup`, which
 * builds its behaviour from one context. See docs/plugins.md.
 */
import type { HandleOptions, JobInfo } from "../jobs/job.ts";
import type { HostDoor } from "../http/door.ts";
import type { Certificates } from "./certificates.ts";
import type { Identify, Privilege } from "../http/auth.ts";
import type { Broadcast } from "../broadcast/broadcast.ts";
import type { Cache } from "../broadcast/cache.ts";
import type { Child, ChildOptions } from "../child/child.ts";
import type { Children } from "../child/child-main.ts";
import type { Read, Sql, Tx } from "../db/db.ts";
import type { BaseCheckContext, CheckContext, Checks, Finding } from "./finding.ts";
import type { EmitOptions } from "../events/events.ts";
import type { EnqueueOptions } from "../jobs/jobs.ts";
import type { Files } from "../files/files.ts";
import type { Peers } from "../db/peers-store.ts";
import type { DiskSpace } from "../system/room.ts";
import type { Liquid } from "../liquid/liquid.ts";
import type { Anchor } from "../lineage/home.ts";
import type { Log } from "../system/log.ts";
import type { Metrics } from "../system/metrics.ts";
import type { Migration } from "../db/migrate.ts";
import type { Model, ModelEvent } from "../events/models.ts";
import type { Fetch } from "../outbound/outbound.ts";
import type { Connect } from "../outbound/outbound-socket.ts";
import type { Hook } from "../events/hooks.ts";
import type { Nameable, Names, Uses } from "./naming.ts";
import type { EventRef, JobRef, ServiceRef } from "../base/references.ts";
import type { LoggedTable, ResourceFacts } from "./facts.ts";
import type { Route } from "../http/route.ts";
import { unknownNames } from "../http/refusals/unknown.ts";
import type { Subrequest } from "../http/subrequest.ts";
import type { Secrets } from "../base/secrets.ts";
import type { Limits } from "../http/limits/shared-limits.ts";
import { checkPages, type StudioPage } from "./studio-pages.ts";
import { ConfigError, readSettings, type ConfigOf, type Environment, type Settings } from "../settings/settings.ts";
import { isObject } from "../base/values.ts";

export type Needs = Readonly<Record<string, ServiceRef<unknown>>>;
type ServicesOf<N extends Needs> = { readonly [K in keyof N]: N[K] extends ServiceRef<infer T> ? T : never };

/** Context of every plugin; `setup` also gets the plugin's own `config` and `services`. */
export interface BaseContext {
  readonly sql: Sql;
  /** How many of its connections the plugin may use at a time. */
  readonly connections: number;
  /**
   * For reads that decide nothing: lists, searches, pages. `run` reads on a replica, if there are any
   * (`DATABASE_READ_URL`), which has every write that was acknowledged before this call, and again on the primary if
   * the replica fails: so it does nothing but read through what it is given, `on`. Its second parameter is SQL for the
   * primary's time. What a write depends on is read through `ctx.sql`.
   */
  readonly read: Read;
  /**
   * Commits when `run` resolves. If the current request has an Idempotency-Key, it commits together with the answer, so
   * that neither is ever stored alone: code that must see the change from outside the transaction goes into
   * `committed`.
   */
  readonly transaction: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * Runs `run` once this request's writes are committed: at once, or with an Idempotency-Key before the answer is sent.
   */
  readonly committed: (run: () => void | Promise<void>) => Promise<void>;
  /** Whether the current request has an Idempotency-Key: if so, even a single statement belongs in `transaction`. */
  readonly keyed: () => boolean;
  readonly log: Log;
  /** The database's time: what is due goes by it, because the clocks of several machines differ. */
  readonly now: () => Date;
  /** Writes the event's jobs in `tx` (the transactional outbox); without `tx` at once. */
  readonly emit: <T>(ref: EventRef<T>, payload: NoInfer<T>, tx?: Tx, options?: EmitOptions) => Promise<void>;
  /** Whether any durable handler would take this event. If none does, a change needs no transaction of its own. */
  readonly wanted: <T>(ref: EventRef<T>, payload: NoInfer<T>) => boolean;
  /** Calls `run` in this process after the event's transaction has committed. */
  readonly listen: <T>(ref: EventRef<T>, run: (payload: T) => void) => void;
  /** Emits `modelChanged`: call it for every create, update and destroy of a model. */
  readonly changed: (event: ModelEvent, tx?: Tx) => Promise<void>;
  readonly enqueue: <T>(ref: JobRef<T>, payload: NoInfer<T>, options?: EnqueueOptions) => Promise<void>;
  /** A fetch that refuses private addresses unless `OUTBOUND_ALLOW` names them. */
  readonly fetch: Fetch;
  /** A socket to another machine, guarded in the same way, for protocols other than HTTP. */
  readonly connect: Connect;
  /** The TXT records of a name in DNS; [] if there are none or DNS does not answer. */
  readonly resolveTxt: (name: string) => Promise<string[]>;
  readonly liquid: Liquid;
  readonly secrets: Secrets;
  readonly metrics: Metrics;
  /** Values by key, consistent across processes: call `invalidate` after the commit and before the answer. */
  readonly cache: <V>(options: CacheOptions<V>) => Cache<V>;
  /** Sends short messages to the same plugin in every process of this installation, including this one. */
  readonly broadcast: Pick<Broadcast, "publish" | "on" | "onReset">;
  /**
   * Counts across all server processes of this machine, and nearly so across machines (with `exact`, to the one):
   * `await ctx.limiter("mail", { limit, windowSeconds }).take(ip)`. A name has one limit and window.
   */
  readonly limiter: Limits;
  /** Runs the child `name` that this plugin declares in a guarded process, for hostile input (child.ts). */
  readonly child: (name: string, options?: ChildOptions) => Child;
  /** Files of a folder, named by their content. All processes of an installation share them. */
  readonly files: (folder: string) => Files;
  /** This process, and whether others of the installation live. */
  readonly peers: Peers;
  /** For what writes much into the database: 503 while its disk has little room. */
  readonly room: DiskSpace;
  /** The server's own address, without a slash at the end: `BASE_URL`, or where it listens. */
  readonly origin: () => string;
  /** The server's own part in https. */
  readonly https: HttpsFacts;
  /** `BASE_URL`, without a slash at the end; "" if it is not set. */
  readonly baseUrl: string;
  readonly maxImportBytes: number;
  /** One small text of the plugin in DATA_DIR, out of reach for whoever writes to the database. */
  readonly anchor: Anchor;
  /** Whether this is a rehearsal on a copy of the data: no jobs and schedules run, and nothing reaches other machines. */
  readonly rehearses: () => boolean;
  /** Who names whom by code, over all plugins. */
  readonly names: Names;
  /** All plugins' facts: their privileges, models and built-in prompts. */
  readonly plugins: readonly PluginFacts[];
  /** All plugins' routes, once the server serves; before that and in commands, none. */
  readonly routes: () => readonly Route[];
  /**
   * Asks this server itself, in this process, with a token, on behalf of the request `of` that is being answered: the
   * same privileges, checks, log and error words as over the network.
   */
  readonly subrequest: Subrequest;
  /** Aborted when the server begins to stop, so that streams end. */
  readonly stopping: AbortSignal;
}

export interface HttpsFacts {
  readonly isOn: boolean;
  /** Whether a port for http answers authorities (`HTTP_PORT`). */
  readonly answersHttp: boolean;
  /** Whether `TLS_DIR` has a certificate for this host. */
  readonly hasOwn: (host: string) => Promise<boolean>;
}

export interface CacheOptions<V> {
  readonly name: string;
  readonly max: number;
  readonly load: (key: string) => Promise<V | undefined>;
}

export interface Context<N extends Needs, C extends Settings, L extends Needs = {}> extends BaseContext {
  readonly config: ConfigOf<C>;
  readonly services: ServicesOf<N>;
  readonly later: ServicesOf<L>;
}

export interface PluginFacts {
  readonly name: string;
  /** The versions of "platform" that it works with, e.g. `^1`; with any other the server says so and does not start. */
  readonly platform?: string;
  readonly config: Settings;
  /**
   * Settings that each account makes for itself at `/account/settings`, where the first argument of each is its name:
   * `{ maxItems: setting.integer("shopping_list_max_items", 100, …) }`. To read them, pass the same object to
   * `accounts.settingsOf(accountId, …)` of "platform/accounts".
   */
  readonly accountSettings: Settings;
  readonly needs: Needs;
  readonly provides?: ServiceRef<unknown>;
  /** Applied in order, each once; never edited once landed. */
  readonly migrations: readonly Migration[];
  readonly privileges: readonly Privilege[];
  readonly models: readonly Model[];
  /** Built-in prompt files by file name, e.g. `notes_api.md`. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Functions for child processes: each module default-exports one. */
  readonly children?: Children;
  /** Commands added to the command line; `setup` returns what they do. */
  readonly commands?: readonly CommandFacts[];
  /** Pages of the Studio. */
  readonly studio?: readonly StudioPage[];
  /**
   * Folders for `ctx.files`, below DATA_DIR or in FILES_BUCKET: backups include them. Folders in them are caches of each
   * machine, without a backup.
   */
  readonly files?: readonly string[];
  /** Checks that `corestead doctor` runs. */
  readonly checks?: Checks;
  /**
   * How the log of activity shows the plugin's tables; those that are not named here, by their columns alone, and with
   * `false` not at all: rows that the server writes for itself.
   */
  readonly activity?: Readonly<Record<string, LoggedTable | false>>;
  /** Its resources. The log of activity knows their tables, and a test compares the two. */
  readonly resources?: readonly ResourceFacts[];
}

/** A command of the command line, known before anything is started. */
export interface CommandFacts {
  /** E.g. `token create`. */
  readonly name: string;
  /** How to write it, e.g. `token create --user LOGIN [--name N]`. */
  readonly usage: string;
  /** A few words for the help. */
  readonly doc: string;
  /** It changes nothing: where there is no database yet, none is made for it. */
  readonly reads?: boolean;
}

/** Return value of `setup`. */
export interface Started<P> {
  readonly routes?: readonly Route[];
  readonly handlers?: readonly Handler[];
  readonly schedules?: readonly Schedule[];
  /** Hooks that run before a change of any model is committed: see `before`. */
  readonly hooks?: readonly Hook[];
  /** What the plugin has that records of other plugins name by code. */
  readonly nameables?: readonly Nameable[];
  /** Which of the plugin's records name those of others. */
  readonly uses?: Uses;
  readonly service?: P;
  /** Identifies the caller; exactly one plugin has it. */
  readonly identify?: Identify;
  /** Answers every request to certain hosts, e.g. those of a site; at most one plugin has it. */
  readonly door?: HostDoor;
  /** Knows certificates for https; at most one plugin does. */
  readonly certificates?: Certificates;
  /** Called after all plugins are set up, for a command too: what must be asked of the database before it is used. */
  readonly prepare?: () => Promise<void>;
  /** Fills an empty database once, in one transaction with all other seeds. Returns lines to print after the commit. */
  readonly seed?: (tx: Tx) => Promise<readonly string[]>;
  /** Implementations of the plugin's `commands`. */
  readonly commands?: readonly Command[];
  /** Called when this process has begun to serve; never called for a command of the command line. */
  readonly begin?: () => void;
  readonly stop?: () => Promise<void> | void;
}

/** A plugin's return value of `setup`, with its name. */
export interface Running extends Started<unknown> {
  readonly plugin: string;
}

/** A command of the command line, e.g. `token create`. */
export interface Command {
  readonly name: string;
  readonly usage: string;
  /** `words`: what follows the command's name, without options. */
  readonly run: (options: Readonly<Record<string, string>>, words?: readonly string[]) => Promise<readonly string[]>;
}

export interface Schedule {
  readonly id: string;
  /** Five fields. */
  readonly cron: string;
  /** An IANA name such as `Europe/Warsaw`; default: UTC. */
  readonly timezone?: string;
  /** Reckon from `dueAt`, and a test can choose the time: `app.runSchedule(id, dueAt)`. */
  readonly run: (dueAt: Date) => Promise<void>;
}

export type Handler =
  | { readonly job: JobRef<unknown>; readonly run: JobRun; readonly options: HandleOptions }
  | { readonly event: EventRef<unknown>; readonly id: string; readonly run: JobRun; readonly options: EventOptions };

type JobRun = (payload: unknown, info: JobInfo) => Promise<void>;
type EventOptions = HandleOptions & {
  readonly when?: (payload: unknown) => boolean;
  readonly orderKey?: (payload: unknown) => string | undefined;
};

/** Handles jobs. Each runs at least once: a run that a crash interrupted is repeated. */
export function on<T>(
  job: JobRef<T>,
  run: (payload: T, info: JobInfo) => Promise<void>,
  options: HandleOptions = {},
): Handler {
  return { job, run: (payload, info) => run(payload as T, info), options }; // the job's ref has typed the payload
}

/** Handles the event durably, through a job of this `id` that is written in the event's transaction. */
export function onEvent<T>(
  event: EventRef<T>,
  id: string,
  run: (payload: T, info: JobInfo) => Promise<void>,
  options: HandleOptions & { when?: (payload: T) => boolean; orderKey?: (payload: T) => string | undefined } = {},
): Handler {
  const { when, orderKey, ...rest } = options;
  // The event's ref has typed the payload.
  const typed = {
    ...(when && { when: (payload: unknown) => when(payload as T) }),
    ...(orderKey && { orderKey: (payload: unknown) => orderKey(payload as T) }),
  };
  return { event, id, run: (payload, info) => run(payload as T, info), options: { ...rest, ...typed } };
}

/** A plugin as the runtime handles it: the types are inside. */
export interface Plugin extends PluginFacts {
  start(
    base: BaseContext,
    env: Environment,
    serviceOf: (ref: ServiceRef<unknown>) => unknown,
  ): Promise<Started<unknown>>;
}

/** A plugin's definition: its facts, most of them optional, and `setup`. */
export interface Definition<N extends Needs, C extends Settings, P, L extends Needs = {}> extends Partial<
  Omit<PluginFacts, "name" | "config" | "needs" | "provides" | "checks">
> {
  readonly name: string;
  readonly config?: C;
  readonly needs?: N;
  /** Services of plugins that may need this one in turn: `ctx.later` has each once its plugin is set up. */
  readonly later?: L;
  readonly provides?: ServiceRef<P>;
  /** Tells `corestead doctor` what is wrong and how to mend it. Nothing is set up for it: it reads the tables itself. */
  readonly checks?: (at: CheckContext<C>) => Promise<readonly Finding[]>;
  readonly setup: (ctx: Context<N, C, L>) => Started<P> | Promise<Started<P>>;
}

export function definePlugin<N extends Needs = {}, C extends Settings = {}, P = undefined, L extends Needs = {}>(
  definition: Definition<N, C, P, L>,
): Plugin {
  const { setup, checks, needs: wanted = {}, config: settings = {}, later: laterNeeds = {}, ...rest } = definition;
  const { name, resources = [], activity = {} } = rest;
  checkKinds(`plugin "${name}" has`, definition, definitionKinds);
  // One in JavaScript may say `undefined`.
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as typeof rest;
  const facts = { ...noFacts, ...given };
  const needs: Needs = wanted;
  checkPages(name, facts.studio);
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`a plugin's name is lower-case words: "${name}"`);
  const start: Plugin["start"] = async (base, env, serviceOf) => {
    const services = Object.fromEntries(Object.entries(needs).map(([key, ref]) => [key, serviceOf(ref)]));
    const later = whenSetUp(name, laterNeeds, serviceOf);
    // They were made from this definition's `config`, `needs` and `later`.
    const own = { config: readSettings(settings, env), services, later } as Pick<
      Context<N, C, L>,
      "config" | "services" | "later"
    >;
    const child: BaseContext["child"] = (childName, options) => {
      if (!Object.hasOwn(facts.children, childName))
        throw new Error(`plugin "${name}" declares no child "${childName}"`);
      return base.child(`${name} ${childName}`, options);
    };
    const ownFiles: BaseContext["files"] = (folder) => {
      if (!facts.files.some((root) => folder === root || folder.startsWith(`${root}/`)))
        throw new Error(`plugin "${name}" declares no files "${folder}"`);
      return base.files(folder);
    };
    const started = await setUp(name, () =>
      setup({ ...base, files: ownFiles, log: base.log.with({ plugin: name }), child, ...own }),
    );
    checkKinds(`plugin "${name}": its setup returns`, started, startedKinds);
    const undeclared = started.commands?.find(
      (command) => !facts.commands.some((known) => known.name === command.name),
    );
    if (undeclared) throw new Error(`plugin "${name}" does not declare its command "${undeclared.name}"`);
    return started;
  };
  return {
    ...facts,
    config: settings,
    needs,
    resources,
    activity: { ...Object.fromEntries(resources.map((one) => [one.table, one.activity])), ...activity },
    ...(checks && {
      checks: async (base: BaseCheckContext, env: Environment) =>
        checks({ ...base, config: readSettings(settings, env) as ConfigOf<C> }), // of this definition's `config`
    }),
    start,
  };
}

const noFacts = {
  accountSettings: {},
  migrations: [],
  privileges: [],
  models: [],
  prompts: {},
  children: {},
  commands: [],
  studio: [],
  files: [],
};

/** Each service from when its plugin is set up. */
function whenSetUp(name: string, needs: Needs, serviceOf: (ref: ServiceRef<unknown>) => unknown): object {
  const later = {};
  for (const [key, ref] of Object.entries(needs)) {
    const get = () => {
      const service = serviceOf(ref);
      if (service === undefined) throw new Error(`plugin "${name}" calls "${ref.id}", which is not set up`);
      return service;
    };
    Object.defineProperty(later, key, { get });
  }
  return later;
}

type Kind = "text" | "list" | "map" | "function" | "any";

const definitionKinds: Readonly<Record<keyof Definition<Needs, Settings, unknown>, Kind>> = {
  name: "text",
  platform: "text",
  config: "map",
  accountSettings: "map",
  needs: "map",
  later: "map",
  provides: "map",
  migrations: "list",
  privileges: "list",
  models: "list",
  resources: "list",
  prompts: "map",
  children: "map",
  commands: "list",
  studio: "list",
  files: "list",
  activity: "map",
  checks: "function",
  setup: "function",
};

const startedKinds: Readonly<Record<keyof Started<unknown>, Kind>> = {
  routes: "list",
  handlers: "list",
  schedules: "list",
  hooks: "list",
  nameables: "list",
  uses: "map",
  service: "any",
  identify: "function",
  door: "map",
  certificates: "map",
  prepare: "function",
  seed: "function",
  commands: "list",
  begin: "function",
  stop: "function",
};

/** Plugins in JavaScript have not been checked by a compiler: a name that nobody reads would do nothing, silently. */
function checkKinds(whose: string, given: unknown, kinds: Readonly<Record<string, Kind>>): void {
  if (!isObject(given)) throw new Error(`${whose} no object`);
  const [hint] = unknownNames(Object.keys(given), Object.keys(kinds), (name) => `${whose} the unknown "${name}"`);
  if (hint !== undefined) throw new Error(hint);
  for (const [name, kind] of Object.entries(kinds)) {
    const value = given[name];
    if (value !== undefined && !isOfKind(value, kind)) throw new Error(`${whose} "${name}", which must be a ${kind}`);
  }
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (kind === "any") return true;
  if (kind === "list") return Array.isArray(value) && value.every((one) => typeof one !== "number" && Boolean(one));
  if (kind === "map") return isObject(value);
  return typeof value === (kind === "text" ? "string" : "function");
}

/** Adds the plugin's name to what `setup` throws; a ConfigError needs none. */
async function setUp<P>(name: string, setup: () => Started<P> | Promise<Started<P>>): Promise<Started<P>> {
  try {
    return await setup();
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new Error(`plugin "${name}" cannot be set up`, { cause });
  }
}

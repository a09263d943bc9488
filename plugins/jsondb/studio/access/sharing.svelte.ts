/** The access of a database while somebody changes it: each change is saved at once, and what is refused says where. */
import { ApiError, get, isMap, lookupChoices, mapsIn, messageOf, request, session, textOf } from "studio";
import { dbPath } from "../paths.ts";
import { draftOf, type SchemaDraft } from "../schema.ts";
import { closedTo, openTo, type Closed } from "./closed.ts";
import { accessOf, faultsOf, grantsOf, subjectKinds, type Grant } from "./grants.ts";
import { say } from "./words.ts";

/** How somebody would see the database. */
export interface Look {
  readonly name: string;
  readonly may: string | null;
  readonly count: number;
  readonly total: number;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

interface Named {
  readonly value: string;
  readonly label: string;
}

export class Sharing {
  readonly db: string;
  code = $state("");
  name = $state("");
  /** Undefined: whoever may use tables may do everything. */
  grants = $state.raw<readonly Grant[] | undefined>();
  schema = $state.raw<SchemaDraft>(draftOf(null));
  isLoaded = $state(false);
  problem = $state("");
  faults = $state.raw<ReadonlyMap<number, readonly string[]>>(new Map());
  /** By whom it is shared with: the tables that it links to and that are closed to them. */
  closed = $state.raw<ReadonlyMap<string, readonly Closed[]>>(new Map());
  publicMethods = $state.raw<unknown>(null);
  publicFaults = $state.raw<readonly string[]>([]);
  saving = $state(false);
  /** Those who can be named: `user:7` and what people call them. */
  subjects = $state.raw<readonly Named[]>([]);
  private tag: string | undefined;

  constructor(db: string) {
    this.db = db;
  }

  async load(signal?: AbortSignal): Promise<void> {
    try {
      const { json, headers } = await get(dbPath(this.db), signal);
      this.take(json, headers);
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }

  private take(json: unknown, headers: Headers): void {
    if (!isMap(json)) return;
    this.code = textOf(json["code"]);
    this.name = textOf(json["name"]);
    this.grants = grantsOf(json["access"]);
    this.schema = draftOf(json["schema"]);
    this.publicMethods = json["public_methods"];
    this.tag = headers.get("etag") ?? undefined;
    this.faults = new Map();
    this.publicFaults = [];
    this.isLoaded = true;
    void this.findClosed();
  }

  private async findClosed(): Promise<void> {
    const { grants = [], schema } = this;
    const found = await closedTo(grants, schema, this.code);
    if (this.grants === grants) this.closed = found;
  }

  /** Lets somebody read a table that this one links to. */
  async open(to: string, db: string): Promise<void> {
    try {
      await openTo(to, db);
      await this.findClosed();
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  /** The people and units that somebody may see. */
  async loadSubjects(): Promise<void> {
    const lists = subjectKinds.map(async (kind) => {
      const resource = session.find(`/account/${kind}s`);
      if (!resource) return [];
      const choices = await lookupChoices({ resource, field: "id" });
      return choices.map(({ value, label }) => ({
        value: `${kind}:${value}`,
        label: label.replace(` (${value})`, ""),
      }));
    });
    const found = await Promise.allSettled(lists);
    this.subjects = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** Shows these at once, and saves them. What is refused stays as it was chosen, until it is right. */
  async save(grants: readonly Grant[], schema?: unknown): Promise<boolean> {
    this.grants = grants;
    return this.patch({ access: accessOf(grants), ...(schema !== undefined && { schema }) });
  }

  async savePublic(methods: unknown): Promise<boolean> {
    this.publicMethods = methods;
    return this.patch({ public_methods: methods });
  }

  /** One at a time: the next one sends what is chosen by then. */
  private waiting: Readonly<Record<string, unknown>> = {};
  private async patch(changes: Readonly<Record<string, unknown>>): Promise<boolean> {
    this.waiting = { ...this.waiting, ...changes };
    if (this.saving) return false;
    this.saving = true;
    let done = false;
    try {
      while (Object.keys(this.waiting).length > 0) {
        const sent = this.waiting;
        this.waiting = {};
        done = await this.send(sent);
      }
    } finally {
      this.saving = false;
    }
    return done;
  }

  private async send(db: Readonly<Record<string, unknown>>): Promise<boolean> {
    this.problem = "";
    try {
      const { json, headers } = await request("PATCH", dbPath(this.db), { body: { db }, ifMatch: this.tag });
      this.tag = headers.get("etag") ?? undefined;
      if (Object.keys(this.waiting).length === 0) this.take(json, headers);
      return true;
    } catch (error) {
      await this.refused(error);
      return false;
    }
  }

  private async refused(error: unknown): Promise<void> {
    if (error instanceof ApiError && error.status === 412) {
      this.waiting = {};
      await this.load();
      this.problem = say("changedMeanwhile");
      return;
    }
    const { access = [], public_methods: methods = [] } = error instanceof ApiError ? error.errors : {};
    const { byGrant, others } = faultsOf(access);
    this.faults = byGrant;
    this.publicFaults = methods;
    if (others.length > 0) this.problem = others.join("; ");
    else if (byGrant.size === 0 && methods.length === 0) this.problem = messageOf(error);
  }

  /** As somebody would see it by what is chosen now. */
  async look(userId: number, signal?: AbortSignal): Promise<Look> {
    const access = this.grants && accessOf(this.grants);
    const path = dbPath(this.db).replace(/\.json$/, "/access/look.json");
    const body = { user_id: userId, access: access ?? null };
    const { json } = await request("POST", path, { body, ...(signal && { signal }) });
    const { user_name: name, may, count, total, records } = isMap(json) ? json : {};
    return {
      name: textOf(name),
      may: typeof may === "string" ? may : null,
      count: Number(count),
      total: Number(total),
      records: mapsIn(records),
    };
  }
}

/** The database of a page: loaded once, and again when it was saved or somebody else has changed it. */
import { get, isMap, messageOf, outlast, session, textOf } from "studio";
import type { Level } from "studio/exact";
import { isAtLeast, levelOf } from "./access/grants.ts";
import { dbPath } from "./paths.ts";
import { draftOf, type SchemaDraft } from "./schema.ts";

export interface Db {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly schema: unknown;
  readonly public_methods: unknown;
  readonly access: unknown;
  readonly icon: string;
  readonly color: string;
}

export class Database {
  /** An id or a code, as in the address. */
  readonly key: string;
  db = $state.raw<Db | undefined>();
  tag = $state<string | undefined>();
  problem = $state("");
  readonly schema: SchemaDraft = $derived(draftOf(this.db?.schema));

  /** What the person may do with some of its records; nothing until it is loaded. */
  private readonly level: Level | undefined = $derived(
    this.db && levelOf(this.db.access, session.person.role === "admin"),
  );

  constructor(key: string) {
    this.key = key;
  }

  may(wanted: Level): boolean {
    return this.level !== undefined && isAtLeast(this.level, wanted);
  }

  async load(signal?: AbortSignal): Promise<void> {
    try {
      const { json, headers } = await outlast(() => get(dbPath(this.key), signal));
      this.show(json, headers);
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }

  show(json: unknown, headers: Headers): void {
    if (!isMap(json)) return;
    const { id, name, code, schema, public_methods, access, icon, color } = json;
    const looks = { icon: textOf(icon), color: textOf(color) };
    this.db = { id: String(id), name: String(name), code: String(code), schema, public_methods, access, ...looks };
    this.tag = headers.get("etag") ?? undefined;
    this.problem = "";
  }
}

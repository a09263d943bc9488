/** A schema that is being changed: field by field, or as JSON. */
import { ApiError, get, isMap, messageOf, parseJson, request } from "studio";
import type { Database } from "../database.svelte.ts";
import { dbPath, recordsPath } from "../paths.ts";
import { repeatedNames } from "./changes.ts";
import { draftOf, faultsOf, movesIndexes, schemaOf, type SchemaDraft } from "../schema.ts";
import { say } from "../words.ts";

export class SchemaForm {
  readonly database: Database;
  draft = $state.raw<SchemaDraft>(draftOf(null));
  json = $state("");
  faults = $state.raw<ReadonlyMap<string, string>>(new Map());
  problems = $state.raw<readonly string[]>([]);
  saving = $state(false);
  /** Somebody else has saved since. */
  isBehind = $state(false);
  records = $state<number | undefined>();

  constructor(database: Database) {
    this.database = database;
  }

  async load(signal?: AbortSignal): Promise<void> {
    await this.database.load(signal);
    this.reset();
    try {
      const { headers } = await get(`${recordsPath(this.database.key)}?count=true&limit=1&fields=id`, signal);
      this.records = Number(headers.get("x-total-count") ?? Number.NaN);
    } catch {
      // The page does without the number.
    }
  }

  reset(): void {
    this.isBehind = false;
    this.clear();
    this.change(draftOf(this.database.db?.schema));
    this.json = JSON.stringify(this.database.db?.schema ?? null, null, 2);
  }

  private clear(): void {
    this.faults = new Map();
    this.problems = [];
  }

  change(draft: SchemaDraft): void {
    this.draft = draft;
    this.json = JSON.stringify(schemaOf(draft), null, 2);
  }

  /** Whether the JSON can be shown as fields. */
  type(json: string): void {
    this.json = json;
    const parsed = this.parsed();
    if (parsed) this.draft = draftOf(parsed.value);
  }

  private parsed(): { readonly value: Readonly<Record<string, unknown>> | null } | undefined {
    try {
      const value = parseJson(this.json);
      return value === null ? { value } : isMap(value) ? { value } : undefined;
    } catch {
      return undefined;
    }
  }

  get isJson(): boolean {
    return this.parsed() !== undefined;
  }

  get isChanged(): boolean {
    const kept = draftOf(this.database.db?.schema);
    return !this.isJson || JSON.stringify(kept) !== JSON.stringify(this.draft);
  }

  get movesIndexes(): boolean {
    return movesIndexes(this.database.schema, this.draft);
  }

  /** `anyway`: over what somebody else has saved. */
  async save(anyway = false): Promise<boolean> {
    if (this.saving) return false;
    const parsed = this.parsed();
    this.clear();
    const repeated = repeatedNames(this.draft);
    if (!parsed || repeated.length > 0) {
      this.problems = parsed ? repeated.map((name) => `${name}: ${say("twice")}`) : [say("json")];
      return false;
    }
    this.saving = true;
    try {
      const ifMatch = anyway ? undefined : this.database.tag;
      const body = { db: { schema: parsed.value } };
      const { json, headers } = await request("PATCH", dbPath(this.database.key), { body, ifMatch });
      this.database.show(json, headers);
      this.reset();
      return true;
    } catch (error) {
      this.refused(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  private refused(error: unknown): void {
    if (error instanceof ApiError && error.status === 412) {
      this.isBehind = true;
      return;
    }
    const { schema = [], ...rest } = error instanceof ApiError ? error.errors : {};
    const { byField, others } = faultsOf(schema, this.draft);
    this.faults = byField;
    this.problems = [...others, ...Object.entries(rest).map(([name, said]) => `${name} ${said.join(", ")}`)];
    if (byField.size === 0 && this.problems.length === 0) this.problems = [messageOf(error)];
  }
}

/** One record that is looked at and changed as a whole: by its fields, or as JSON. */
import {
  ApiError,
  get,
  isMap,
  KeptDraft,
  merged,
  messageOf,
  ownOf,
  parseJson,
  request,
  text,
  words,
  type Conflict,
} from "studio";
import type { TableDraft } from "../schema.ts";
import { changedFields, plainText, typedValue } from "../cells.ts";
import { recordPath, recordsPath } from "../paths.ts";
import { say } from "../words.ts";

/** A longer one would hold up the browser's own text area. */
export const mostJson = 300_000;
export const mostInField = 20_000;

export class RecordForm {
  readonly db: string;
  readonly id: string;
  readonly isNew: boolean;
  table = $state<string | null>(null);
  data = $state.raw<Readonly<Record<string, unknown>> | undefined>();
  created = $state("");
  updated = $state("");
  /** The typed texts, by field. */
  texts = $state.raw<Readonly<Record<string, string>>>({});
  json = $state("");
  asJson = $state(false);
  messages = $state.raw<Readonly<Record<string, string>>>({});
  problem = $state("");
  saving = $state(false);
  readonly draft: KeptDraft;
  /** Fields that somebody else has saved too. */
  conflicts = $state.raw<readonly Conflict[]>([]);
  /** The ETag of what was read. */
  private tag: string | undefined;

  constructor(db: string, id: string, table: string | null) {
    this.db = db;
    this.id = id;
    this.isNew = id === "new";
    this.table = table;
    this.draft = new KeptDraft(`${recordPath(db, id)}${this.isNew ? ` ${table ?? ""}` : ""}`);
    if (this.isNew) this.show({});
  }

  async load(signal?: AbortSignal): Promise<void> {
    if (this.isNew) return;
    try {
      const data = await this.read(signal);
      if (data) this.show(data);
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }

  private async read(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { json, headers } = await get(recordPath(this.db, this.id), signal);
    if (!isMap(json) || !isMap(json["data"])) return undefined;
    this.table = typeof json["table_name"] === "string" ? json["table_name"] : null;
    this.created = String(json["created_at"]);
    this.updated = String(json["updated_at"]);
    this.tag = headers.get("etag") ?? undefined;
    return json["data"];
  }

  private show(data: Readonly<Record<string, unknown>>): void {
    this.data = data;
    this.texts = {};
    this.messages = {};
    this.problem = "";
    this.json = JSON.stringify(data, null, 2);
  }

  /** As if somebody had typed it: nothing of it is kept until it is saved. */
  begin(data: Readonly<Record<string, unknown>>): void {
    this.texts = Object.fromEntries(Object.entries(data).map(([field, value]) => [field, plainText(value)]));
    this.json = JSON.stringify(data, null, 2);
  }

  textOf(field: string): string {
    return ownOf(this.texts, field) ?? plainText(ownOf(this.data, field));
  }

  type(field: string, value: string): void {
    this.texts = { ...this.texts, [field]: value };
    this.keep();
  }

  typeJson(value: string): void {
    this.json = value;
    this.keep();
  }

  /** In this browser, until it is saved. */
  private keep(): void {
    if (!this.isChanged) return this.draft.forget();
    const typed = this.asJson ? { json: this.json } : this.texts;
    this.draft.keep({ ...typed, asJson: this.asJson });
  }

  restoreDraft(): void {
    const { asJson, ...typed } = this.draft.take();
    const texts = Object.entries(typed).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    this.asJson = asJson === true;
    if (this.asJson) this.json = Object.fromEntries(texts)["json"] ?? this.json;
    else this.texts = Object.fromEntries(texts);
  }

  get isChanged(): boolean {
    return this.asJson ? this.json !== JSON.stringify(this.data, null, 2) : Object.keys(this.texts).length > 0;
  }

  /** Takes what was typed along; undefined where it is wrong. */
  switchTo(asJson: boolean, table: TableDraft | undefined): void {
    const changes = this.changes(table);
    if (!changes) return;
    const next = { ...this.data, ...changes };
    if (asJson) this.json = JSON.stringify(next, null, 2);
    else this.texts = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, plainText(value)]));
    this.asJson = asJson;
  }

  private changes(table: TableDraft | undefined): Record<string, unknown> | undefined {
    this.messages = {};
    this.problem = "";
    if (this.asJson) {
      const typed = changedFields(this.data ?? {}, this.json, parseJson);
      if (!typed) this.problem = say("json");
      return typed;
    }
    const changes = new Map<string, unknown>();
    const messages = new Map<string, string>();
    for (const [name, value] of Object.entries(this.texts)) {
      const before = ownOf(this.data, name);
      if (value === plainText(before)) continue;
      const result = typedValue(table?.fields.find((field) => field.name === name)?.type, value, before);
      if ("mistake" in result) messages.set(name, say(result.mistake));
      else if (!this.isNew || result.value !== null) changes.set(name, result.value);
    }
    this.messages = Object.fromEntries(messages);
    return messages.size > 0 ? undefined : Object.fromEntries(changes);
  }

  /** The record as the server has it then; undefined if it refuses. */
  async save(table: TableDraft | undefined): Promise<unknown> {
    const data = this.changes(table);
    if (!data || this.saving) return undefined;
    this.saving = true;
    try {
      const path = this.isNew ? recordsPath(this.db) : `${recordPath(this.db, this.id)}?keep_table=true`;
      const record = this.isNew ? { data, ...(this.table !== null && { table_name: this.table }) } : { data };
      const { json } = await request(this.isNew ? "POST" : "PATCH", path, { body: { record }, ifMatch: this.tag });
      this.draft.forget();
      return json;
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await this.merge(data);
      else this.refused(error, table);
      return undefined;
    } finally {
      this.saving = false;
    }
  }

  /** Somebody else has saved meanwhile: takes theirs where I have changed nothing. */
  private async merge(mine: Readonly<Record<string, unknown>>): Promise<void> {
    const loaded = this.data ?? {};
    try {
      const theirs = await this.read();
      if (!theirs) return;
      const { conflicts } = merged(loaded, theirs, { ...loaded, ...mine });
      this.show(theirs);
      this.put(mine);
      this.conflicts = conflicts;
      if (conflicts.length === 0) this.problem = text.messages.merged;
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  /** Changes over what the server has. */
  private put(changes: Readonly<Record<string, unknown>>): void {
    this.texts = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, plainText(value)]));
    this.json = JSON.stringify({ ...this.data, ...changes }, null, 2);
  }

  /** `takeTheirs`: the fields whose other version wins. */
  resolve(takeTheirs: ReadonlySet<string>): void {
    const changes = changedFields(this.data ?? {}, this.json, parseJson) ?? {};
    this.put(Object.fromEntries(Object.entries(changes).filter(([name]) => !takeTheirs.has(name))));
    this.conflicts = [];
    this.keep();
  }

  private refused(error: unknown, table: TableDraft | undefined): void {
    const errors = error instanceof ApiError ? error.errors : {};
    const shown = new Set(this.asJson ? [] : table?.fields.map(({ name }) => name));
    const ofFields = Object.entries(errors).filter(([name]) => shown.has(name));
    const others = Object.entries(errors).filter(([name]) => !shown.has(name));
    this.messages = Object.fromEntries(ofFields.map(([name, said]) => [name, said.join(", ")]));
    if (others.length > 0) this.problem = others.map(([name, said]) => `${words(name)} ${said.join(", ")}`).join("; ");
    else if (ofFields.length === 0) this.problem = messageOf(error);
  }
}

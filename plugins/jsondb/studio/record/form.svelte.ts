/** One record that is looked at and changed: field by field, or as JSON. What was typed is saved one request at a time. */
import {
  ApiError,
  connection,
  get,
  isMap,
  KeptDraft,
  merged,
  messageOf,
  outlast,
  ownOf,
  parseJson,
  request,
  same,
  text,
  toasts,
  words,
  type Conflict,
} from "studio";
import type { TableDraft } from "../schema.ts";
import { changedFields, typedText, typedValue, type Row } from "../cells.ts";
import { recordPath, recordsPath } from "../paths.ts";
import { say } from "./words.ts";

/** A longer one would hold up the browser's own text area. */
export const mostJson = 300_000;
export const mostInField = 20_000;
/** How often a save begins again because others have saved other fields meanwhile. */
const mostMerges = 5;

type Values = Readonly<Record<string, unknown>>;

/** What a save has done, and what would take it back. */
export interface SavedChange {
  readonly json: unknown;
  readonly changes: Values;
  readonly before: Values;
}

export class RecordForm {
  readonly db: string;
  readonly id: string;
  readonly isNew: boolean;
  table = $state<string | null>(null);
  data = $state.raw<Values | undefined>();
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
  /** The fields of the last save. */
  justSaved = $state.raw<readonly string[]>([]);
  /** Told of each save of a record that was there before. */
  saved: (change: SavedChange) => void = () => {};
  /** The ETag of what was read. */
  private tag: string | undefined;
  /** Something was to be saved while a save was under way. */
  private again = false;

  /** `place` tells apart the drafts of new records. */
  constructor(db: string, id: string, table: string | null, place = "") {
    this.db = db;
    this.id = id;
    this.isNew = id === "new";
    this.table = table;
    this.draft = new KeptDraft(`${recordPath(db, id)}${this.isNew ? ` ${table ?? ""}${place}` : ""}`);
    if (this.isNew) this.show({});
  }

  /** What a list has of the record is shown until the server answers, and can be changed. */
  open({ data, table_name: table, created_at: created, updated_at: updated }: Row): void {
    [this.table, this.created, this.updated] = [table, created, updated];
    this.show(data);
  }

  async load(signal?: AbortSignal): Promise<void> {
    if (this.isNew) return;
    const isFirst = this.tag === undefined;
    try {
      const { json, headers } = await outlast(() => get(recordPath(this.db, this.id), signal));
      // What is typed over the list's record meanwhile is joined with it by its save.
      if (isFirst && this.data && (this.isChanged || this.saving)) return;
      const data = this.taken(json, headers);
      if (data) this.show(data);
    } catch (error) {
      if (!signal?.aborted) this.problem = messageOf(error);
    }
  }

  /** As the server has it now, below what is being typed. */
  async follow(): Promise<void> {
    if (!this.isChanged) return this.load();
    this.data = (await this.read().catch(() => undefined)) ?? this.data;
  }

  private async read(): Promise<Values | undefined> {
    const { json, headers } = await outlast(() => get(recordPath(this.db, this.id)));
    return this.taken(json, headers);
  }

  private taken(json: unknown, headers: Headers): Values | undefined {
    if (!isMap(json) || !isMap(json["data"])) return undefined;
    this.table = typeof json["table_name"] === "string" ? json["table_name"] : null;
    this.created = String(json["created_at"]);
    this.updated = String(json["updated_at"]);
    this.tag = headers.get("etag") ?? undefined;
    return json["data"];
  }

  private show(data: Values): void {
    this.data = data;
    this.texts = {};
    this.messages = {};
    this.problem = "";
    this.json = JSON.stringify(data, null, 2);
  }

  textOf(field: string): string {
    return ownOf(this.texts, field) ?? typedText(ownOf(this.data, field), text.language);
  }

  type(field: string, value: string): void {
    this.texts = { ...this.texts, [field]: value };
    this.keep();
  }

  /** The field is again as the server has it. */
  revert(field: string): void {
    this.texts = Object.fromEntries(Object.entries(this.texts).filter(([name]) => name !== field));
    this.messages = Object.fromEntries(Object.entries(this.messages).filter(([name]) => name !== field));
    this.keep();
  }

  /** Nothing that was typed is wanted any more. */
  discard(): void {
    if (this.data) this.show(this.data);
    this.draft.drop();
  }

  typeJson(value: string): void {
    this.json = value;
    this.keep();
  }

  /** In this browser, until it is saved. */
  private keep(): void {
    if (!this.isChanged) return this.draft.forget();
    const typed = this.asJson ? { json: this.json } : this.texts;
    this.draft.keep({ ...typed, asJson: this.asJson }, [], this.stored(Object.keys(typed)));
  }

  /** What the server has, as somebody would type it. */
  private stored(names: readonly string[]): Record<string, string> {
    const whole = JSON.stringify(this.data, null, 2);
    const of = (name: string) => (this.asJson ? whole : typedText(ownOf(this.data, name), text.language));
    return Object.fromEntries(names.map((name) => [name, of(name)]));
  }

  /** What somebody has changed since is asked about. */
  restoreDraft(table: TableDraft | undefined): void {
    const { asJson, ...names } = this.draft.found?.inputs ?? {};
    this.asJson = asJson === true;
    const { inputs, conflicts } = this.draft.takeOver(this.stored(Object.keys(names)));
    const texts = Object.entries(inputs).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    if (this.asJson) this.json = Object.fromEntries(texts)["json"] ?? this.json;
    else this.texts = Object.fromEntries(texts);
    const mine = conflicts.length > 0 && !this.isNew ? this.changes(table) : undefined;
    if (!mine) return;
    this.begin(mine);
    const fields = this.asJson
      ? Object.keys(mine)
      : conflicts.map(({ field }) => field).filter((field) => field in mine);
    this.conflicts = fields.map((field) => ({
      field,
      loaded: this.asJson ? undefined : conflicts.find((one) => one.field === field)?.loaded,
      theirs: ownOf(this.data, field),
      mine: mine[field],
    }));
  }

  get isChanged(): boolean {
    return this.asJson ? this.json !== JSON.stringify(this.data, null, 2) : Object.keys(this.texts).length > 0;
  }

  /** Takes what was typed along; undefined where it is wrong. */
  switchTo(asJson: boolean, table: TableDraft | undefined): void {
    const changes = this.changes(table);
    if (!changes) return;
    this.begin(changes);
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
      if (value === typedText(before, text.language)) continue;
      const result = typedValue(table?.fields.find((field) => field.name === name)?.type, value, before, text.language);
      if ("mistake" in result) messages.set(name, say(result.mistake));
      else if (!this.isNew || result.value !== null) changes.set(name, result.value);
    }
    this.messages = Object.fromEntries(messages);
    return messages.size > 0 ? undefined : Object.fromEntries(changes);
  }

  /** Gives what was typed to `send`, field by field, and shows it as if it was saved. */
  handOver(table: TableDraft | undefined, send: (field: string, value: unknown, before: unknown) => void): void {
    const [changes, before] = [this.changes(table), this.data];
    if (!changes) return;
    this.show({ ...before, ...changes });
    this.draft.forget();
    for (const [field, value] of Object.entries(changes)) send(field, value, ownOf(before, field));
  }

  /**
   * Saves what was typed, and what is typed meanwhile after it. The record as the server has it then; undefined if it
   * refuses, or a person has to decide first.
   */
  async save(table: TableDraft | undefined): Promise<unknown> {
    this.again = true;
    if (this.saving || this.conflicts.length > 0) return undefined;
    this.saving = true;
    let json: unknown;
    try {
      for (let merges = 0; this.again && merges < mostMerges;) {
        this.again = false;
        const result = await this.saveOnce(table);
        if (result === "merged") merges++;
        else json = result;
      }
      if (this.again) this.problem = text.messages.merged;
    } finally {
      this.saving = false;
    }
    return json;
  }

  private async saveOnce(table: TableDraft | undefined): Promise<unknown> {
    const [texts, jsonText, before] = [this.texts, this.json, this.data ?? {}];
    const changes = this.changes(table);
    if (!changes) return undefined;
    if (!this.isNew && Object.keys(changes).length === 0) return this.settle(texts, jsonText);
    if (!this.isNew && this.tag === undefined) return this.merge(table);
    try {
      const { json, headers } = await this.send(changes);
      if (this.isNew) {
        this.again = false;
        this.draft.forget();
        return json;
      }
      this.data = this.taken(json, headers) ?? this.data;
      this.settle(texts, jsonText);
      this.justSaved = Object.keys(changes);
      this.saved({ json, changes, before });
      return json;
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) return this.merge(table);
      this.refused(error, table);
      return undefined;
    }
  }

  private send(data: Values) {
    const path = this.isNew ? recordsPath(this.db) : `${recordPath(this.db, this.id)}?keep_table=true`;
    const record = this.isNew ? { data, ...(this.table !== null && { table_name: this.table }) } : { data };
    const options = { body: { record }, ifMatch: this.tag, ...(this.isNew && { key: crypto.randomUUID() }) };
    return connection.counted(outlast(() => request(this.isNew ? "POST" : "PATCH", path, options)));
  }

  /** What was sent is no change any more; what was typed since stays one. */
  private settle(texts: Readonly<Record<string, string>>, json: string): void {
    this.texts = Object.fromEntries(Object.entries(this.texts).filter(([name, typed]) => ownOf(texts, name) !== typed));
    if (this.json === json || !this.asJson) this.json = JSON.stringify(this.data, null, 2);
    this.keep();
  }

  /** Somebody else has saved meanwhile: takes theirs where I have changed nothing, and goes on if that is all. */
  private async merge(table: TableDraft | undefined): Promise<"merged" | undefined> {
    const [loaded, tag] = [this.data ?? {}, this.tag];
    try {
      const theirs = await this.read();
      const mine = this.changes(table); // with what was typed since
      if (!theirs || !mine) {
        this.tag = tag; // else the next save would pass over theirs
        return undefined;
      }
      const { conflicts } = merged(loaded, theirs, { ...loaded, ...mine });
      this.show(theirs);
      this.begin(mine);
      this.conflicts = conflicts;
      if (conflicts.length > 0) return undefined;
      if (!same(loaded, theirs)) toasts.say(say("bothKept"));
      this.again = true;
      return "merged";
    } catch (error) {
      this.problem = messageOf(error);
      return undefined;
    }
  }

  /** Changes over what the server has, as if somebody had typed them: nothing of them is kept until they are saved. */
  begin(changes: Values): void {
    this.texts = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, typedText(value, text.language)]),
    );
    this.json = JSON.stringify({ ...this.data, ...changes }, null, 2);
  }

  /** `takeTheirs`: the fields whose other version wins. */
  resolve(takeTheirs: ReadonlySet<string>): void {
    const changes = changedFields(this.data ?? {}, this.json, parseJson) ?? {};
    this.begin(Object.fromEntries(Object.entries(changes).filter(([name]) => !takeTheirs.has(name))));
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

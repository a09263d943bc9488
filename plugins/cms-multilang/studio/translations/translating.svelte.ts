/** One row of the matrix in one language, while it is translated: what was read, what is typed, and the save. */
import { ApiError, get, isMap, KeptDraft, merged, request } from "studio";
import type { Locale } from "../../locales.ts";
import type { Kind, Row } from "./rows.ts";
import type { Site } from "./site.svelte.ts";
import { changesOf, mistaken, pathFor, textOf, unitsOf, wayOf } from "./units.ts";
import type { Change, Entry, Group, Unit } from "./units.ts";

interface Asked {
  readonly kind: Kind;
  readonly site: Site;
  readonly row: Row;
  readonly locale: Locale;
  readonly from: Locale;
}

interface Stored {
  readonly record: Entry;
  readonly tag: string | undefined;
}

type Words = Readonly<Record<string, readonly string[]>>;

export class Translating {
  asked: Asked;
  group = $state.raw<Group | undefined>();
  units = $state.raw<readonly Unit[]>([]);
  typed = $state.raw<Readonly<Record<string, string>>>({});
  messages = $state.raw<Words>({});
  problem = $state("");
  saving = $state(false);
  readonly draft: KeptDraft;
  readonly way = $derived(this.group && wayOf(this.group));
  readonly isTouched = $derived(
    this.units.some(({ name, value }) => this.valueOf(name) !== value) || "path" in this.typed || "name" in this.typed,
  );
  #tags: Readonly<Partial<Record<"root" | "own", string>>> = {};
  #source: Entry | undefined;

  constructor(asked: Asked) {
    this.asked = asked;
    const { kind, site, row, locale } = asked;
    this.draft = new KeptDraft(`cms/${site.id}/translations/${kind}/${row.page}/${locale}`);
  }

  valueOf(name: string): string {
    return this.typed[name] ?? this.units.find((unit) => unit.name === name)?.value ?? "";
  }

  /** The name and the path of a page that is still to be made. */
  readonly newName = $derived(this.typed["name"] ?? this.#nameFor());
  readonly newPath = $derived(this.typed["path"] ?? this.#pathFor());

  #nameFor(): string {
    return `${textOf(this.group?.root["name"])} (${this.asked.locale})`;
  }
  #pathFor(): string {
    const { group } = this;
    const title = this.typed["fields.title"] ?? this.typed["html_title"] ?? this.typed["name"] ?? "";
    return group ? pathFor(title, textOf(group.root["path"]), this.asked.locale) : "";
  }

  type(name: string, value: string): void {
    this.typed = { ...this.typed, [name]: value };
    this.messages = { ...this.messages, [name]: [] };
    this.draft.keep(this.typed);
  }

  restore(): void {
    this.typed = Object.fromEntries(Object.entries(this.draft.take()).map(([name, value]) => [name, String(value)]));
  }

  reload(row: Asked["row"]): Promise<void> {
    this.asked = { ...this.asked, row };
    return this.load();
  }

  async load(signal?: AbortSignal): Promise<void> {
    const { kind, site, row, locale, from } = this.asked;
    const read = (code: string | null | undefined) =>
      code && code !== row.page ? this.#read(code, signal) : Promise.resolve(undefined);
    const [first, shown, source] = await Promise.all([
      this.#read(row.page, signal),
      read(row.locales[locale]?.page),
      read(row.locales[from]?.page),
    ]);
    // A page without a language beside those that have one: its fields hold the words.
    const isShared = kind === "page" && shown !== undefined && shown.record["locale"] === null;
    const root = isShared ? shown : first;
    const own = isShared ? undefined : shown;
    this.#tags = { ...(root.tag !== undefined && { root: root.tag }), ...(own?.tag !== undefined && { own: own.tag }) };
    this.#source = source?.record ?? first.record;
    this.group = { kind, root: root.record, own: own?.record, locale, site: site.locale };
    this.units = unitsOf(this.group, { locale: from, record: this.#source });
  }

  async #read(code: string, signal?: AbortSignal): Promise<Stored> {
    const { site } = this.asked;
    const { json, headers } = await get(
      `${this.#path}/${encodeURIComponent(code)}.json?${new URLSearchParams({ site_code: site.code })}`,
      signal,
    );
    return { record: entryOf(json), tag: headers.get("etag") ?? undefined };
  }

  /** True once everything is stored. */
  async save(): Promise<boolean> {
    if (this.saving || !this.group) return false;
    const wrong = mistaken(this.units, this.typed);
    this.messages = Object.fromEntries(wrong.map((name) => [name, ["JSON"]]));
    if (wrong.length > 0) return false;
    this.saving = true;
    this.problem = "";
    try {
      await this.#store();
      this.draft.forget();
      this.typed = {};
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  async #store(attempt = 1): Promise<void> {
    const { group } = this;
    if (!group || !this.isTouched) return;
    try {
      for (const change of this.#changes(group)) await this.#send(change);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === 3) throw error;
      const before = this.units;
      await this.load();
      // Where somebody else wrote the same, nothing is lost.
      const { conflicts } = merged(valuesOf(before), valuesOf(this.units), this.typed);
      if (conflicts.length > 0) throw new Clash(conflicts.map(({ field }) => field));
      await this.#store(attempt + 1);
    }
  }

  /** A page that is to be made is written first: a save that ends in between goes on with it. */
  #changes(group: Group): Change[] {
    const changes = changesOf(group, this.units, this.typed);
    const isNew = this.way === "slave" || this.way === "copy";
    return isNew && !changes.some(({ record }) => record === "own")
      ? [{ record: "own", values: {} }, ...changes]
      : changes;
  }

  async #send({ record, values }: Change): Promise<void> {
    const { group } = this;
    const { kind } = this.asked;
    if (!group) return;
    const stored = record === "root" ? group.root : group.own;
    const ifMatch = this.#tags[record];
    const { json, headers } = stored
      ? await request("PATCH", `${this.#path}/${stored.id}.json`, { body: { [kind]: values }, ifMatch })
      : await request("POST", `${this.#path}.json`, { body: { [kind]: { ...this.#begun(group), ...values } } });
    const tag = headers.get("etag");
    this.#tags = { ...this.#tags, ...(tag !== null && { [record]: tag }) };
    this.group = { ...group, [record]: entryOf(json) };
    if (this.#source) this.units = unitsOf(this.group, { locale: this.asked.from, record: this.#source });
  }

  get #path(): string {
    return `/cms/${this.asked.kind}s`;
  }

  /** What a new page or article has besides its texts. */
  #begun({ root }: Group): Readonly<Record<string, unknown>> {
    const { kind, site, locale } = this.asked;
    const { code, category_code, categories, published_at, active, fields } = root;
    if (kind === "article")
      return { site_code: site.code, locale, category_code, categories, published_at, active, fields };
    const place = { name: this.newName, path: this.newPath };
    return { code: `${code}-${locale}`, site_code: site.code, locale, based_on_page_code: code, ...place };
  }

  #refused(error: unknown): void {
    if (error instanceof Clash) this.messages = Object.fromEntries(error.names.map((name) => [name, ["clash"]]));
    else if (error instanceof ApiError) {
      this.messages = error.errors;
      this.problem = error.message;
    } else throw error;
  }
}

/** Somebody else has written these texts meanwhile. */
class Clash extends Error {
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super();
    this.names = names;
  }
}

const valuesOf = (units: readonly Unit[]) => Object.fromEntries(units.map(({ name, value }) => [name, value]));

function entryOf(json: unknown): Entry {
  const record = isMap(json) ? json : {};
  return { ...record, id: Number(record["id"]), code: String(record["code"]) };
}

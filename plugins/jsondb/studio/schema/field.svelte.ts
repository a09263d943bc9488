/** One field of a table that is being changed: what was typed, and what the server says of it. */
import { ApiError, isMap, KeptDraft, merged, messageOf, ownOf, same, text, textOf, type Conflict } from "studio";
import type { Database } from "../database.svelte.ts";
import { kindOf, lookOf, type Kind } from "../look/kinds.ts";
import { dbPath } from "../paths.ts";
import { draftOf, faultsAt, schemaOf, type SchemaDraft, type TableDraft } from "../schema.ts";
import { changeField, fieldFrom, inTable, setIndexed, withOption } from "./changes.ts";
import { labelOf, writeSchema } from "./tables.ts";
import { say } from "./words.ts";

/** The definition, and under names that no option has what the table says of the field. */
type Values = Readonly<Record<string, unknown>>;

const ofTable = { name: ":name", isTitle: ":title", isFast: ":fast" } as const;
const mostMerges = 5;

export class FieldForm {
  readonly database: Database;
  /** "" is the only one. */
  readonly table: string;
  /** As the server had it when my changes began. */
  private loaded = $state.raw<Values>({});
  mine = $state.raw<Values>({});
  /** The server's words, by option. */
  messages = $state.raw<Readonly<Record<string, string>>>({});
  problem = $state("");
  saving = $state(false);
  conflicts = $state.raw<readonly Conflict[]>([]);
  readonly draft: KeptDraft;
  readonly field = $derived(fieldFrom(this.name, this.definition));
  readonly kind: Kind = $derived(kindOf(this.field));
  readonly label = $derived(labelOf(this.field));
  /** Whether another kind has been chosen. */
  readonly isRetyped = $derived(kindOf(fieldFrom("", definitionIn(this.loaded))) !== this.kind);
  readonly isChanged = $derived(!same(this.loaded, this.mine));

  constructor(database: Database, table: string, name: string) {
    this.database = database;
    this.table = table;
    this.loaded = this.mine = this.read(name) ?? {};
    this.draft = new KeptDraft(`${dbPath(database.key)} ${table} ${name}`);
  }

  get name(): string {
    return textOf(this.mine[ofTable.name]);
  }
  /** By which the server still knows it. */
  get stored(): string {
    return textOf(this.loaded[ofTable.name]);
  }
  get definition(): Values {
    return definitionIn(this.mine);
  }
  get isTitle(): boolean {
    return this.mine[ofTable.isTitle] === true;
  }
  get isFast(): boolean {
    return this.mine[ofTable.isFast] === true;
  }
  get own(): TableDraft | undefined {
    return this.applied(draftOf(this.database.db?.schema), this.mine).tables.find(({ name }) => name === this.table);
  }

  /** The values of a choice that records may have. */
  get storedValues(): readonly (string | number)[] {
    return lookOf(fieldFrom(this.stored, definitionIn(this.loaded)), "", String).choices.map(({ value }) => value);
  }

  private read(name: string): Values | undefined {
    const table = draftOf(this.database.db?.schema).tables.find((one) => one.name === this.table);
    const field = table?.fields.find((one) => one.name === name);
    if (!table || !field) return undefined;
    const { type, required, more } = field;
    const isTitle = table.more?.["title_field"] === name;
    const own = { [ofTable.name]: name, [ofTable.isTitle]: isTitle, [ofTable.isFast]: table.indexed.includes(name) };
    return { type, required, ...more, ...own };
  }

  option(name: string): unknown {
    return ownOf(this.mine, name);
  }
  /** Undefined leaves the option out. */
  set(options: Values): void {
    this.mine = { ...this.mine, ...options };
    this.messages = Object.fromEntries(
      Object.entries(this.messages).filter(([place]) => !Object.keys(options).some((name) => place.startsWith(name))),
    );
    if (this.isChanged) this.draft.keep({ field: JSON.stringify(this.mine) });
    else this.draft.forget();
  }
  rename(name: string): void {
    this.set({ [ofTable.name]: name });
    this.messages = { ...this.messages, "": "" };
  }
  setTitle(isTitle: boolean): void {
    this.set({ [ofTable.isTitle]: isTitle });
  }
  setFast(isFast: boolean): void {
    this.set({ [ofTable.isFast]: isFast });
  }
  /** Another definition, under the same name. */
  define(definition: Values): void {
    const own = Object.fromEntries(Object.values(ofTable).map((name) => [name, this.mine[name]]));
    this.mine = {};
    this.set({ ...definition, ...own });
  }
  /** What was typed before, and never saved. */
  restore(): void {
    const { field } = this.draft.take();
    const kept: unknown = typeof field === "string" ? JSON.parse(field) : undefined;
    if (isMap(kept)) this.mine = kept;
  }
  discard(): void {
    this.mine = this.loaded;
    this.draft.drop();
  }

  private applied(draft: SchemaDraft, values: Values): SchemaDraft {
    const name = String(values[ofTable.name]);
    return inTable(draft, this.table, (table) => {
      const changed = changeField(table, this.stored, fieldFrom(name, definitionIn(values)));
      const fast = setIndexed(changed, name, values[ofTable.isFast] === true);
      const was = fast.more?.["title_field"] === name;
      const is = values[ofTable.isTitle] === true;
      return was === is ? fast : withOption(fast, "title_field", is ? name : null);
    });
  }

  /** Whether it is saved; if not, a person has to decide or to mend something first. */
  async save(): Promise<boolean> {
    return this.trying(async () => {
      for (let merges = 0; merges < mostMerges; merges++) {
        if (await this.send()) return true;
        if (!(await this.merge())) return false;
      }
      this.problem = text.messages.merged;
      return false;
    });
  }

  /** What goes wrong is said in the form. */
  async trying(run: () => Promise<boolean>): Promise<boolean> {
    if (this.saving) return false;
    this.saving = true;
    this.messages = {};
    this.problem = "";
    try {
      return await run();
    } catch (error) {
      this.refused(error);
    } finally {
      this.saving = false;
    }
    return false;
  }

  /** False if somebody else has saved meanwhile. */
  private async send(): Promise<boolean> {
    try {
      // A name first, with which values move; what is to hold for them is judged after it.
      if (this.name !== this.stored) await this.write({ ...this.loaded, [ofTable.name]: this.name });
      if (this.isChanged) await this.write(this.mine);
      this.draft.forget();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) return false;
      throw error;
    }
  }

  private async write(values: Values): Promise<void> {
    const [from, to] = [this.stored, String(values[ofTable.name])];
    const { multiTable } = this.database.schema;
    const rename = from === to ? undefined : { [multiTable ? `${this.table}.${from}` : from]: to };
    await writeSchema(this.database, schemaOf(this.applied(draftOf(this.database.db?.schema), values)), rename);
    this.loaded = this.read(to) ?? values;
  }

  /** Takes theirs where I have changed nothing; whether that is all. */
  private async merge(): Promise<boolean> {
    await this.database.load();
    const theirs = this.read(this.stored);
    if (!theirs) {
      this.problem = say("fieldGone");
      return false;
    }
    const { values, conflicts } = merged(this.loaded, theirs, this.mine);
    this.loaded = theirs;
    this.mine = values;
    this.conflicts = conflicts;
    return conflicts.length === 0;
  }
  /** `takeTheirs`: the options whose other version wins. */
  resolve(takeTheirs: ReadonlySet<string>): void {
    this.mine = { ...this.mine, ...Object.fromEntries([...takeTheirs].map((name) => [name, this.loaded[name]])) };
    this.conflicts = [];
  }

  private refused(error: unknown): void {
    const { schema = [], rename = [], ...rest } = error instanceof ApiError ? error.errors : {};
    const { multiTable } = this.database.schema;
    const { at, others } = faultsAt(schema, `${multiTable ? `tables.${this.table}.` : ""}fields.${this.name}`);
    this.messages = { ...at, ...(rename.length > 0 && { "": rename.join(", ") }) };
    const more = [...others, ...Object.entries(rest).map(([name, said]) => `${name}: ${said.join(", ")}`)];
    const isSaid = Object.keys(this.messages).length > 0;
    this.problem = more.join(" ") || (isSaid ? text.messages.wrongFields : messageOf(error));
  }

  /** The words of one option, and of what is inside it. */
  wrong(option: string): readonly string[] {
    return Object.entries(this.messages).flatMap(([place, words]) =>
      words !== "" && (place === option || place.startsWith(`${option}[`) || place.startsWith(`${option}.`))
        ? [words]
        : [],
    );
  }
}

function definitionIn(values: Values): Values {
  const own: readonly string[] = Object.values(ofTable);
  const entries = Object.entries(values).filter(([name, value]) => !own.includes(name) && value !== undefined);
  return Object.fromEntries(entries.filter(([name, value]) => name !== "required" || value === true));
}

/** A new app: a starter, what it needs beside its code, and the form that makes it. */
import { ApiError, Editor, isMap, loadModels, request, router, session, Tables, textOf, type Table } from "studio";
import { openApp } from "./app.svelte.ts";
import { addressOfApp } from "./place.ts";
import { fieldsIn, sourceOf, starters, type Starter } from "./starters.ts";

/** What is made is built on, where its code is; what it was described with is asked there. */
class NewEditor extends Editor {
  description = $state("");

  override goTo(json: unknown): void {
    const key = isMap(json) ? textOf(json["url_code"] || json["id"]) : "";
    if (this.description.trim() !== "") {
      const { talk } = openApp(key);
      talk.type(this.description.trim());
      talk.isWanted = true;
    }
    router.go(addressOfApp(key, "build"), { replace: true });
  }
}

export class NewApp {
  readonly editor: NewEditor;
  /** Whether there is a model to describe it to; undefined until it is known, and for those who may ask none. */
  hasModel = $state<boolean | undefined>();
  /** The starters whose needs the person may meet. */
  readonly starters: readonly Starter[];
  starter = $state.raw<Starter | undefined>();
  readonly tables = new Tables();
  /** The key of the table that the app is built over; "" for one of its own. */
  over = $state("");
  /** The code that the starter has put in: other code is the person's own. */
  private filled = "";
  /** Made by a save that was refused afterwards: the next one takes them. */
  private made: { database?: string; flow?: string } = {};

  constructor() {
    this.editor = new NewEditor(session.resource("/core/apps"), [], true);
    this.starters = starters.filter(
      ({ database, action }) => (!database || session.may("dbs")) && (!action || session.may("flows")),
    );
  }

  /** `over`: the code of a database that the app is to be built over; `wanted`: the id of a starter. */
  async begin(over: string, wanted: string | null): Promise<void> {
    if (session.may("dbs")) await this.tables.read();
    const known = this.tables.tables.find(({ db }) => db === over);
    if (known) this.over = keyOf(known);
    const byId = (name: string | null) => this.starters.find(({ id }) => id === name);
    const first = byId(known ? "list" : wanted) ?? byId("empty");
    const { draft } = this.editor;
    if (this.starter || !first || (draft.found && !known)) return;
    this.choose(first);
    if (known) this.type("name", known.label);
    // Nobody has typed anything yet.
    if (!draft.found) draft.drop();
  }

  /** Asked again when somebody has set one up. */
  async findModel(): Promise<void> {
    const models = await loadModels();
    this.hasModel = models && models.length > 0;
  }

  get table(): Table | undefined {
    return this.starter?.fitsAny ? this.tables.tables.find((one) => keyOf(one) === this.over) : undefined;
  }

  /** Whether visitors may use it without signing in: the public method takes no table. */
  get isPublic(): boolean {
    const { starter, table } = this;
    if (starter?.public) return true;
    return starter?.creates === true && table?.table === "" && table.hasForm;
  }

  /** The database whose public method would open the app to visitors. */
  get closed(): string {
    return this.starter?.creates && this.table?.table === "" && !this.isPublic ? this.table.db : "";
  }

  /** Where a list is made: at its table. */
  get listAddress(): string {
    const { table } = this;
    const query = new URLSearchParams({ make: "list", name: this.textOfInput("name").trim() });
    if (table?.table) query.set("table", table.table);
    return table ? `/studio/tables/${encodeURIComponent(table.db)}?${query}` : "/studio/tables/new";
  }

  /** Whether the code was changed by hand. */
  get isOwn(): boolean {
    const source = this.textOfInput("source_code");
    return source.trim() !== "" && source !== this.filled;
  }

  choose(starter: Starter): void {
    this.starter = starter;
    this.made = {};
    if (starter.id === "list") this.over ||= this.tables.tables.map(keyOf)[0] ?? "";
    this.fill();
    this.type("app_engine", starter.engine);
    this.type("css_engine", starter.css);
  }

  chooseTable(key: string): void {
    this.over = key;
    this.fill();
  }

  /** Makes what the starter needs, then the app. */
  async save(): Promise<void> {
    const { editor, starter } = this;
    if (editor.saving) return;
    const name = this.textOfInput("name").trim();
    if (starter && !this.isOwn) this.fill(); // its heading is the name
    // It is a draft until it is published.
    this.type("active", false);
    try {
      if (name !== "" && starter) await this.makeNeeds(starter, name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      editor.problem = error.message;
      return;
    }
    await editor.save();
  }

  private async makeNeeds(starter: Starter, name: string): Promise<void> {
    if (this.isPublic) this.type("public", true);
    if (starter.database) {
      const code = this.table?.db ?? (this.made.database ??= await makeDatabase(starter, name));
      this.type("db_code", code);
    }
    if (starter.action) {
      const { name: action, description } = starter.action;
      const flow_code = (this.made.flow ??= await makeFlow(starter, name));
      this.type("actions", JSON.stringify([{ action, flow_code, description, public: false }]));
    }
  }

  private fill(): void {
    const { starter, table } = this;
    if (!starter) return;
    const name = table?.label ?? this.textOfInput("name").trim();
    const fields = table
      ? table.fields.map(({ name: field, type, isRequired: required }) => ({ name: field, type, required }))
      : fieldsIn(starter);
    this.filled = sourceOf(starter, {
      name: name || "Records",
      fields,
      table: table?.table || null,
      isOpen: this.isPublic,
    });
    this.type("source_code", this.filled);
  }

  private textOfInput(name: string): string {
    return textOf(this.editor.inputs[name]);
  }

  private type(name: string, value: string | boolean): void {
    this.editor.typeIn(name, value);
  }
}

export function keyOf({ db, table }: Table): string {
  return `${db}/${table}`;
}

async function makeDatabase({ database }: Starter, name: string): Promise<string> {
  const { json } = await request("POST", "/core/dbs.json", {
    body: { db: { name, ...database, schema: { history: true, ...database?.schema } } },
  });
  return isMap(json) ? textOf(json["code"]) : "";
}

async function makeFlow({ action }: Starter, name: string): Promise<string> {
  const flow = { name, fields: { program: action?.program ?? [] } };
  const { json } = await request("POST", "/connect/flows.json", { body: { flow } });
  return isMap(json) ? textOf(json["code"]) : "";
}

/** A new app: a starter, what it needs beside its code, and the form that makes it. */
import { ApiError, Editor, get, isMap, loadModels, request, router, session, textOf } from "studio";
import { openApp } from "./app.svelte.ts";
import { addressOfApp } from "./place.ts";
import { fieldsOf, isOpenForVisitors, sourceOf, starters, tablesOf, type Starter } from "./starters.ts";

export interface Database {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly schema: unknown;
  readonly public_methods: unknown;
}

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
  databases = $state.raw<readonly Database[]>([]);
  /** The code of the database that the app is built over; "" for one of its own. */
  over = $state("");
  table = $state("");
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

  /** `over`: the code or the id of a database that the app is to be built over; `wanted`: the id of a starter. */
  async begin(over: string, wanted: string | null): Promise<void> {
    if (session.may("dbs")) {
      const { json } = await get("/core/dbs.json?limit=500");
      this.databases = (Array.isArray(json) ? json : []).flatMap((row: unknown) =>
        isMap(row)
          ? [
              {
                id: textOf(row["id"]),
                code: textOf(row["code"]),
                name: textOf(row["name"]),
                schema: row["schema"],
                public_methods: row["public_methods"],
              },
            ]
          : [],
      );
    }
    const known = this.databases.find(({ id, code }) => code === over || id === over);
    if (known) {
      this.over = known.code;
      this.table = tablesOf(known.schema)[0] ?? "";
    }
    const byId = (name: string | null) => this.starters.find(({ id }) => id === name);
    const first = known ? byId("table") : (byId(wanted) ?? this.starters[0]);
    const { draft } = this.editor;
    if (this.starter || !first || (draft.found && !known)) return;
    this.choose(first);
    if (known) this.type("name", known.name);
    // Nobody has typed anything yet.
    if (!draft.found) draft.drop();
  }

  /** Asked again when somebody has set one up. */
  async findModel(): Promise<void> {
    const models = await loadModels();
    this.hasModel = models && models.length > 0;
  }

  get database(): Database | undefined {
    return this.starter?.fitsAny ? this.databases.find(({ code }) => code === this.over) : undefined;
  }

  /** Whether visitors may use it without signing in. */
  get isPublic(): boolean {
    const { starter, database, table } = this;
    if (starter?.public) return true;
    return starter?.creates === true && isOpenForVisitors(database?.public_methods, table);
  }

  /** The database whose public method would open the app to visitors. */
  get closed(): string {
    return this.starter?.creates && this.table === "" && !this.isPublic ? this.over : "";
  }

  /** Whether the code was changed by hand. */
  get isOwn(): boolean {
    const source = this.textOfInput("source_code");
    return source.trim() !== "" && source !== this.filled;
  }

  choose(starter: Starter): void {
    this.starter = starter;
    this.made = {};
    this.fill();
    this.type("app_engine", starter.engine);
    this.type("css_engine", starter.css);
  }

  chooseDatabase(code: string): void {
    this.over = code;
    this.table = tablesOf(this.database?.schema)[0] ?? "";
    this.fill();
  }

  chooseTable(table: string): void {
    this.table = table;
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
      const code = this.database?.code ?? (this.made.database ??= await makeDatabase(starter, name));
      this.type("db_code", code);
    }
    if (starter.action) {
      const { name: action, description } = starter.action;
      const flow_code = (this.made.flow ??= await makeFlow(starter, name));
      this.type("actions", JSON.stringify([{ action, flow_code, description, public: false }]));
    }
  }

  private fill(): void {
    const { starter, database, table } = this;
    if (!starter) return;
    const named = table === "" ? null : table;
    const name = database?.name ?? this.textOfInput("name").trim();
    const fields = fieldsOf(database?.schema ?? starter.database?.schema, named);
    this.filled = sourceOf(starter, { name: name || "Records", fields, table: named, isOpen: this.isPublic });
    this.type("source_code", this.filled);
  }

  private textOfInput(name: string): string {
    return textOf(this.editor.inputs[name]);
  }

  private type(name: string, value: string | boolean): void {
    this.editor.typeIn(name, value);
  }
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

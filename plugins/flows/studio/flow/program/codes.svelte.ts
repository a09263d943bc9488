/** What the steps of a flow may name: connectors with their methods, databases with their tables, flows, steps of plugins. */
import { get, isMap, lookupChoices, mapsIn, session, textOf, type Choice } from "studio";

export interface Method {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
}

export interface OwnKind {
  readonly type: string;
  readonly doc: string;
  readonly parameters: readonly string[];
}

interface Database {
  readonly code: string;
  readonly schema: unknown;
}

export class Codes {
  connectors = $state.raw<readonly Choice[]>([]);
  flows = $state.raw<readonly Choice[]>([]);
  dbs = $state.raw<readonly Choice[]>([]);
  private prompts = $state.raw<readonly Choice[]>([]);
  private apps = $state.raw<readonly Choice[]>([]);
  own = $state.raw<readonly OwnKind[]>([]);
  private databases = $state.raw<readonly Database[]>([]);
  private methods = $state.raw<ReadonlyMap<string, readonly Method[]>>(new Map());
  private readonly asked = new Set<string>();

  /** Without an answer, codes are typed. */
  load(): void {
    const choices = (path: string, take: (found: readonly Choice[]) => void) => {
      const resource = session.find(path);
      if (resource) lookupChoices({ resource, field: "code" }).then(take, () => undefined);
    };
    choices("/connect/connectors", (found) => (this.connectors = found));
    choices("/connect/flows", (found) => (this.flows = found));
    choices("/core/dbs", (found) => (this.dbs = found));
    choices("/core/prompts", (found) => (this.prompts = found));
    if (session.may("apps"))
      void rowsAt("/core/apps.json?limit=500").then(
        (rows) => (this.apps = rows.map(({ url_code, name }) => ({ value: textOf(url_code), label: textOf(name) }))),
      );
    void rowsAt("/connect/flow_steps.json?limit=500").then((rows) => (this.own = rows.map(ownKind)));
    if (session.may("dbs"))
      void rowsAt("/core/dbs.json?limit=500").then(
        (rows) => (this.databases = rows.map(({ code, schema }) => ({ code: textOf(code), schema }))),
      );
  }

  /** Methods of a connector, loaded on first use. */
  methodsOf(connector: string): readonly Method[] {
    if (!this.asked.has(connector) && this.connectors.some(({ value }) => value === connector)) {
      this.asked.add(connector);
      void rowsAt(`/connect/connectors/${encodeURIComponent(connector)}/methods.json?limit=500`).then((rows) => {
        this.methods = new Map([...this.methods, [connector, rows.map(method)]]);
      });
    }
    return this.methods.get(connector) ?? [];
  }

  /** What a value of this name is likely one of: `prompt` and `prompt_code` name a prompt. */
  choicesFor(name: string): readonly Choice[] {
    const { prompts, apps, dbs, connectors, flows } = this;
    const all: Readonly<Record<string, readonly Choice[]>> = {
      prompt: prompts,
      app: apps,
      db: dbs,
      connector: connectors,
      flow: flows,
    };
    const kind = name.endsWith("_code") ? name.slice(0, -"_code".length) : name;
    return Object.hasOwn(all, kind) ? (all[kind] ?? []) : [];
  }

  tablesOf(db: string): readonly string[] {
    const tables = this.schemaOf(db)?.["tables"];
    return isMap(tables) ? Object.keys(tables) : [];
  }

  fieldsOf(db: string, table: unknown): readonly string[] {
    const schema = this.schemaOf(db);
    const tables = schema?.["tables"];
    const whole = isMap(tables) && typeof table === "string" ? tables[table] : schema;
    const fields = isMap(whole) ? whole["fields"] : undefined;
    return isMap(fields) ? Object.keys(fields) : [];
  }

  private schemaOf(db: string): Readonly<Record<string, unknown>> | undefined {
    const schema = this.databases.find(({ code }) => code === db)?.schema;
    return isMap(schema) ? schema : undefined;
  }
}

async function rowsAt(path: string): Promise<Readonly<Record<string, unknown>>[]> {
  try {
    const { json } = await get(path);
    return mapsIn(json);
  } catch {
    return []; // what one may not see is typed
  }
}

function method({ name, description, parameters }: Readonly<Record<string, unknown>>): Method {
  const names = Array.isArray(parameters) ? parameters.map(String) : [];
  return { name: textOf(name), description: textOf(description), parameters: names };
}

function ownKind({ type, doc, params }: Readonly<Record<string, unknown>>): OwnKind {
  const properties = isMap(params) ? params["properties"] : undefined;
  return { type: textOf(type), doc: textOf(doc), parameters: isMap(properties) ? Object.keys(properties) : [] };
}

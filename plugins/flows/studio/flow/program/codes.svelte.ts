/** What the steps of a flow may name, followed as others change it: connections with their actions, tables, flows, steps of plugins. */
import { get, isMap, lookupChoices, mapsIn, nameOf, plainField, session, Tables, textOf, words } from "studio";
import type { Choice, TableField } from "studio";
import { say } from "../words.ts";
import { recipients } from "./ask.ts";
import { startOf, type StepKind } from "./kind.ts";
import { own as ownKind } from "./kinds.ts";
import { inputKeysIn } from "./scope.ts";
import type { Step } from "./tree.ts";

export interface Method {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
  /** Of a request over HTTP. */
  readonly verb: string;
}

/** A connection as the picker of one shows it. */
export interface Connection {
  readonly code: string;
  readonly name: string;
  readonly service: string;
  readonly url: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface OwnStep {
  readonly type: string;
  readonly doc: string;
  readonly parameters: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

export class Codes extends Tables {
  connections = $state.raw<readonly Connection[]>([]);
  flows = $state.raw<readonly Choice[]>([]);
  own = $state.raw<readonly OwnStep[]>([]);
  /** What each flow takes, by its code. */
  private inputs = $state.raw<ReadonlyMap<string, readonly TableField[]>>(new Map());
  private prompts = $state.raw<readonly Choice[]>([]);
  private apps = $state.raw<readonly Choice[]>([]);
  private methods = $state.raw<ReadonlyMap<string, readonly Method[]>>(new Map());
  private readonly asked = new Set<string>();

  /** Reads everything, and again what changes. Gives back what ends that. */
  override begin(): () => void {
    const choice = (row: Row): Choice => ({ value: textOf(row["code"] ?? row["url_code"]), label: nameOf(row) });
    void rowsAt("/connect/flow_steps.json?limit=500").then((rows) => (this.own = rows.map(ownStep)));
    if (session.may("apps")) void rowsAt("/core/apps.json?limit=500").then((rows) => (this.apps = rows.map(choice)));
    void rowsAt("/core/prompts.json?limit=500").then((rows) => (this.prompts = rows.map(choice)));
    const flows = async () => {
      const rows = await rowsAt("/connect/flows.json?limit=500");
      this.flows = rows.map(choice);
      this.inputs = new Map(
        rows.map((row) => [textOf(row["code"]), inputsOf(isMap(row["fields"]) ? row["fields"] : {})]),
      );
    };
    const connections = () => this.readConnections();
    const read = () => void Promise.all([connections(), flows()]);
    read();
    // Connections and flows have no stream of changes: whoever comes back from where one was made sees it.
    addEventListener("focus", read);
    const end = super.begin();
    return () => {
      removeEventListener("focus", read);
      end();
    };
  }

  /** Also called for one that was made a moment ago. */
  async readConnections(): Promise<void> {
    const rows = await rowsAt("/connect/connectors.json?limit=500");
    this.asked.clear();
    this.connections = rows.map((row) => ({
      code: textOf(row["code"]),
      name: nameOf(row),
      service: textOf(row["kind"]),
      url: textOf(row["url"]),
      fields: isMap(row["fields"]) ? row["fields"] : {},
    }));
  }

  connection(code: string): Connection | undefined {
    return this.connections.find((one) => one.code === code);
  }

  /** The kind of service, by which a step that calls one is told. */
  readonly serviceOf = (code: string): string | undefined => this.connection(code)?.service;

  flowName(code: string): string {
    return this.flows.find(({ value }) => value === code)?.label ?? code;
  }

  /** What a flow says that it takes, and what else its steps read of their input. */
  inputsOf(code: string): readonly TableField[] {
    return this.inputs.get(code) ?? [];
  }

  /** The actions of a connection, read on first use. */
  methodsOf(code: string): readonly Method[] {
    if (!this.asked.has(code) && this.connection(code)) {
      this.asked.add(code);
      void rowsAt(`/connect/connectors/${encodeURIComponent(code)}/methods.json?limit=500`).then((rows) => {
        this.methods = new Map([...this.methods, [code, rows.map((row) => this.method(code, row))]]);
      });
    }
    return this.methods.get(code) ?? [];
  }

  private method(code: string, { name, description, parameters }: Row): Method {
    const declared = this.connection(code)?.fields["methods"];
    const own = isMap(declared) ? declared[textOf(name)] : undefined;
    const verb = isMap(own) ? textOf(own["method"]).toUpperCase() || "GET" : "";
    const service = this.serviceOf(code);
    return {
      name: textOf(name),
      description: textOf(description),
      parameters: Array.isArray(parameters) ? parameters.map(String) : [],
      verb: service === "core/custom_connector" ? verb : "",
    };
  }

  /** What a value of this name is likely one of: `prompt` and `prompt_code` name a prompt. */
  choicesFor(name: string): readonly Choice[] {
    const dbs = this.tables.map(({ db, label }) => ({ value: db, label }));
    const connectors = this.connections.map(({ code, name: label }) => ({ value: code, label }));
    const all: Readonly<Record<string, readonly Choice[]>> = {
      prompt: this.prompts,
      app: this.apps,
      db: dbs,
      connector: connectors,
      flow: this.flows,
    };
    const kind = name.endsWith("_code") ? name.slice(0, -"_code".length) : name;
    return Object.hasOwn(all, kind) ? (all[kind] ?? []) : [];
  }

  private subjects = $state.raw<readonly Choice[]>([]);
  private readsPeople = false;

  /** Those who can be asked: people, teams and the like as far as they may be seen, and roles. */
  get people(): readonly Choice[] {
    if (!this.readsPeople) void this.readPeople();
    const own = { value: `user:${session.person.id}`, label: session.person.name || session.person.login };
    const others = this.subjects.filter(({ value }) => value !== own.value);
    const roles = { admin: "roleAdmin", manager: "roleManager", user: "roleUser" } as const;
    return [
      own,
      ...others,
      ...Object.entries(roles).map(([role, word]) => ({ value: `role:${role}`, label: say(word) })),
    ];
  }

  private async readPeople(): Promise<void> {
    this.readsPeople = true;
    const lists = ["user", "team", "department", "group"].map(async (kind) => {
      const resource = session.find(`/account/${kind}s`);
      const choices = resource ? await lookupChoices({ resource, field: "id" }) : [];
      return choices.map(({ value, label }) => ({
        value: `${kind}:${value}`,
        label: label.replace(` (${value})`, ""),
      }));
    });
    const all = await Promise.allSettled(lists);
    this.subjects = all.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** `Managers, Ann` */
  peopleSaid(to: unknown): string {
    const { chosen, other } = recipients(to);
    const names = chosen.map((one) => this.people.find(({ value }) => value === one)?.label ?? one);
    return [...names, other].filter(Boolean).join(", ");
  }

  /** A new step; where there is one connection that fits, it is that one. */
  begins(kind: StepKind, taken: readonly string[], type: string): Step {
    if (kind.id === ownKind.id) return { ...kind.start, type };
    const start = startOf(kind, taken);
    const [only, ...others] =
      kind.service === undefined ? [] : this.connections.filter(({ service }) => service === kind.service);
    if (!only || others.length > 0) return start;
    return start["type"] === "http" ? start : { ...start, connector: only.code };
  }
}

/** None where they may not be seen: the flow is worked on without them, and their names are typed. */
export async function rowsAt(path: string): Promise<Row[]> {
  try {
    const { json } = await get(path);
    return mapsIn(json);
  } catch {
    return [];
  }
}

/** The fields of an input: those of its schema, and those that steps name. */
function inputsOf({ input, program }: Row): readonly TableField[] {
  const schema = isMap(input) ? input : {};
  const declared = isMap(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const names = new Set([...Object.keys(declared), ...inputKeysIn(Array.isArray(program) ? program : [])]);
  return [...names].map((name) => {
    const own = declared[name];
    const type = isMap(own) ? textOf(own["type"]) : "";
    return plainField(name, words(name), type, required.includes(name));
  });
}

function ownStep({ type, doc, params }: Row): OwnStep {
  const properties = isMap(params) ? params["properties"] : undefined;
  return { type: textOf(type), doc: textOf(doc), parameters: isMap(properties) ? Object.keys(properties) : [] };
}

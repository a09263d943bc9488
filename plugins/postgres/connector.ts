/** `core/postgres`: the method `query`, and statements declared in `fields.methods`. behaviour B.9. */
import { invalid, mistakes, OutboundFault } from "platform";
import { createFiller, recordOf, type ConnectorKind, type KindCall, type OpenConnector } from "../connectors/api.ts";
import {
  checkDefinition,
  connectorFields,
  limits,
  mayWrite,
  methodOf,
  methodsOf,
  serverOf,
  sqlMistake,
} from "./definition.ts";
import type { Pools } from "./pools.ts";
import { QueryFault, type Query } from "./remote-store.ts";
import { parseStatement } from "./statement.ts";

export function postgresConnector(pools: Pools): ConnectorKind {
  return {
    name: "core/postgres",
    fields: connectorFields,
    methodKeys: ["sql", "public", "description", "timeout"],
    needsUrl: true,
    echoes: false,
    methods: methodsOf,
    check: checkDefinition,
    async call(connector, call) {
      const { query, seconds } = queryOf(connector, call);
      const startedAt = performance.now();
      const { accountId, code, url, fields, secret } = connector;
      const server = serverOf(url, fields, secret);
      const timeoutMs = Math.min(call.timeoutMs, seconds * 1000);
      const outcome = await run(() =>
        pools.run(`${accountId}/${code}`, server, query, { timeoutMs, signal: call.signal }),
      );
      return {
        ...outcome,
        status: null,
        retryAfterSeconds: null,
        durationMs: Math.round(performance.now() - startedAt),
      };
    },
  };
}

/** Throws the 422 that names every wrong or missing parameter. */
function queryOf({ fields }: OpenConnector, call: KindCall): { query: Query; seconds: number } {
  const writes = mayWrite(fields);
  const declared = methodOf(fields, call.method);
  const { sql, params } = declared ? { sql: declared.sql, params: call.params } : rawQuery(call.params, writes);
  const statement = parseStatement(sql, writes);
  // A declared statement was checked when it was saved, a raw one just now.
  if ("mistake" in statement) throw invalid({ sql: [statement.mistake] });
  const values = Array.isArray(params) ? params : named(statement.names, params);
  if (Array.isArray(params) && statement.names.length > 0)
    throw invalid({ params: ["must be an object: the statement has {name}s"] });
  const mistake = valuesMistake(values);
  if (mistake !== undefined)
    throw invalid({ [declared ? (statement.names[mistake.at] ?? "") : "params"]: [mistake.text] });
  return { query: { text: statement.text, values, mayWrite: writes }, seconds: declared?.seconds ?? 15 };
}

type Params = unknown[] | Readonly<Record<string, unknown>>;

function rawQuery(given: KindCall["params"], writes: boolean): { sql: string; params: Params } {
  const found = mistakes();
  const { sql, params = [] } = given;
  const wrong = sqlMistake(sql, writes);
  if (wrong !== undefined) found.add("sql", wrong);
  const list = Array.isArray(params) ? params : params === null ? [] : recordOf(params);
  if (!list) found.add("params", "must be an array for $1, $2, … or an object for {name}s");
  found.check();
  return { sql: String(sql), params: list ?? [] };
}

function named(names: readonly string[], params: Readonly<Record<string, unknown>>): unknown[] {
  const fill = createFiller(params);
  const values = names.map((name) => fill.json(`{${name}}`));
  fill.check();
  return values;
}

function valuesMistake(values: readonly unknown[]): { at: number; text: string } | undefined {
  if (values.length > limits.params) return { at: 0, text: `may be at most ${limits.params}` };
  const at = values.findIndex(hasNul);
  return at < 0 ? undefined : { at, text: "must not have a NUL character" };
}

/** Whether a string or key anywhere in it has a NUL character. */
function hasNul(value: unknown): boolean {
  let found = false;
  JSON.stringify(value, (key, one: unknown) => {
    found ||= key.includes("\0") || (typeof one === "string" && one.includes("\0"));
    return one;
  });
  return found;
}

async function run(query: () => Promise<{ rows: unknown[]; count: number }>) {
  try {
    return { ok: true, data: await query(), error: null };
  } catch (error) {
    if (error instanceof OutboundFault) return { ok: false, data: null, error: error.message };
    if (!(error instanceof QueryFault)) throw error;
    return { ok: false, data: error.code === undefined ? null : { code: error.code }, error: error.message };
  }
}

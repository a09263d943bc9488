/** Findings of `corestead doctor`: one line each, with its remedy. */
import type { Sql } from "../db/db.ts";
import type { Fetch } from "../outbound/outbound.ts";
import type { Connect } from "../outbound/outbound-socket.ts";
import type { ConfigOf, Environment, Settings } from "../settings/settings.ts";

export interface Finding {
  /** The subject in one word, e.g. `mail`. */
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  /** The remedy. */
  readonly remedy?: string;
}

/** Reports findings about one subject: `const mail = findingsOf("mail"); mail.warn("…", "…")`. */
export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ check, state: "ok", message }),
    warn: (message: string, remedy: string): Finding => ({ check, state: "warn", message, remedy }),
    fail: (message: string, remedy: string): Finding => ({ check, state: "fail", message, remedy }),
  };
}

/** "what is wrong: what to do" */
export function split(text: string): [message: string, remedy: string] {
  const at = text.indexOf(": ");
  return [text.slice(0, at), text.slice(at + 2)];
}

/** Context of a plugin's `checks`, which only read. */
export interface BaseCheckContext {
  readonly sql: Sql;
  readonly fetch: Fetch;
  readonly connect: Connect;
  /** Whether this server itself serves https. */
  readonly isHttps: boolean;
  /** Whether each of these names leads to this server; `what` names them: "domains of sites". */
  readonly hosts: (what: string, names: readonly string[]) => Promise<readonly Finding[]>;
  /** Compares this machine's clock with another; `whose` names it. */
  readonly clock: (whose: string, its: Date) => Finding;
}

export interface CheckContext<C extends Settings> extends BaseCheckContext {
  readonly config: ConfigOf<C>;
}

/** A plugin's checks, as the runtime calls them. */
export type Checks = (base: BaseCheckContext, env: Environment) => Promise<readonly Finding[]>;

const marks = { ok: "ok  ", warn: "warn", fail: "FAIL" };

/** The findings as lines for people. */
export function findingLines(findings: readonly Finding[]): string[] {
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const line = ({ check, state, message, remedy }: Finding) =>
    oneLine(`${marks[state]}  ${check.padEnd(width)}  ${message}${remedy === undefined ? "" : ` -> ${remedy}`}`);
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  return [...findings.map(line), `${count("fail")} failed, ${count("warn")} warnings, ${count("ok")} ok`];
}

/** A message may quote what another server said. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/** An error and its causes in one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message || ("code" in error ? String(error.code) : error.name);
  return error.cause ? `${own}: ${reasonOf(error.cause)}` : own;
}

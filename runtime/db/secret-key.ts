/**
 * Which key belongs to a database. Secrets are sealed with the SECRET_KEY, so the database stores the key's fingerprint
 * and refuses a process with another key: it could open nothing, and nobody else could open what it seals.
 *
 * A restored backup is the exception, because its key may be lost: the server starts with the key that it has, and
 * warns until the old key is back or `corestead secret-key accept` gives up the old secrets.
 */
import { join } from "node:path";
import type { Config } from "../settings/config.ts";
import { transaction, type Queryable, type Sql, type Tx } from "./db.ts";
import { findSecretKey, fingerprintOf, loadSecretKey } from "../base/secrets.ts";

type KeyConfig = Pick<Config, "dataDir" | "secretKey">;

/** What the database stores. */
interface State {
  /** The fingerprint of the key that is in use. */
  readonly inUse: string | undefined;
  /** The fingerprint of the missing key that restored secrets are sealed with (`unknown` in old backups). */
  readonly restored: string | undefined;
  /** Whether a server has ever filled this database. */
  readonly isSeeded: boolean;
}

interface KeyState {
  /** Why it would not start. */
  readonly fault?: string;
  readonly warning?: string;
  readonly fingerprint?: string;
}

const inUseKey = "secret_key";
const restoredKey = "restored_secret_key";
const unknown = "unknown";

/** The key for this database; a new one is `draft`. If the key is wrong, throws and says what to do. */
export async function databaseSecretKey(sql: Sql, config: KeyConfig & { readonly draft: string }): Promise<string> {
  const found = findSecretKey(config.dataDir, config.secretKey);
  const { inUse, restored, isSeeded } = await stateOf(sql);
  if (found === undefined && (inUse ?? (isSeeded && !restored))) throw missing(config, inUse);
  const key = found ?? loadSecretKey(config.dataDir, undefined, config.draft);
  const fingerprint = fingerprintOf(key);
  if (inUse !== undefined && inUse !== fingerprint && restored !== fingerprint)
    throw another(config, inUse, fingerprint);
  return key;
}

/** Notes the key as the database's, once nothing else refuses the start: what it refuses might have another key. */
export async function keepSecretKey(
  sql: Sql,
  config: KeyConfig & { readonly key: string },
  warn: (text: string) => unknown,
): Promise<void> {
  const fingerprint = fingerprintOf(config.key);
  let state = await stateOf(sql);
  if (state.restored === fingerprint) await accept(sql, fingerprint);
  else if (state.inUse === undefined) await setIfAbsent(sql, fingerprint);
  if (state.inUse !== fingerprint) state = await stateOf(sql); // another process may have been faster
  if (state.inUse !== fingerprint) throw another(config, state.inUse, fingerprint);
  if (state.restored) warn(restoredWarning(config, state.restored));
}

/** Whether a server would start with the key that is here; changes nothing. */
export async function secretKeyState(sql: Sql, config: KeyConfig): Promise<KeyState> {
  const found = findSecretKey(config.dataDir, config.secretKey);
  const { inUse, restored, isSeeded } = await stateOf(sql);
  if (found === undefined)
    return inUse || (isSeeded && !restored) ? { fault: missing(config, inUse).message } : { fingerprint: "none yet" };
  const fingerprint = fingerprintOf(found);
  if (restored && restored !== fingerprint) return { warning: restoredWarning(config, restored) };
  if (!restored && inUse !== undefined && inUse !== fingerprint)
    return { fault: another(config, inUse, fingerprint).message };
  return { fingerprint };
}

/** `corestead secret-key accept`: makes the present key the right one. */
export async function acceptSecretKey(sql: Sql, config: KeyConfig): Promise<string[]> {
  const fingerprint = fingerprintOf(loadSecretKey(config.dataDir, config.secretKey));
  const { inUse } = await stateOf(sql);
  await accept(sql, fingerprint);
  if (inUse === fingerprint) return [`the key ${fingerprint} is in use already`];
  return [
    `the key ${fingerprint} is in use from now on: restart every server of this database`,
    "enter the secrets of connectors and webhooks' API tokens again, and rotate the webhooks' signing secrets",
  ];
}

/** The note after a backup: the key is not in it. */
export async function backupNotes(sql: Sql, config: KeyConfig): Promise<string[]> {
  const found = findSecretKey(config.dataDir, config.secretKey);
  if (found === undefined) return [`warning: there is no secret key in ${placeOf(config)}; ${lossOf()}`];
  const fingerprint = fingerprintOf(found);
  const { inUse = fingerprint } = await stateOf(sql);
  if (inUse !== fingerprint)
    return [`warning: the secrets in it are sealed with the key ${inUse}, and ${placeOf(config)} is ${fingerprint}`];
  return [
    `it does not hold the secret key (fingerprint ${fingerprint}): keep a copy of ${placeOf(config)} as well; ${lossOf()}`,
  ];
}

/**
 * Call it after a restore: allows the next start to have another key than the backup, and returns what to tell the
 * user.
 */
export async function restoreNotes(sql: Sql, config: KeyConfig): Promise<string[]> {
  const found = findSecretKey(config.dataDir, config.secretKey);
  const { inUse, restored } = await stateOf(sql);
  if (found !== undefined && (inUse === undefined || inUse === fingerprintOf(found))) return [];
  const sealedWith = inUse ?? restored ?? unknown;
  await transaction(sql, async (tx) => {
    await tx`delete from runtime_state where key = ${inUseKey}`;
    await set(tx, restoredKey, sealedWith);
  });
  return [`warning: ${restoredWarning(config, sealedWith)}`];
}

/** Whether a server has ever filled this database. */
export async function isFilled(sql: Queryable): Promise<boolean> {
  return (await stateOf(sql)).isSeeded;
}

async function stateOf(sql: Queryable): Promise<State> {
  const rows = await sql<{ key: string; value: string }[]>`
    select key, value from runtime_state where key in (${inUseKey}, ${restoredKey}, 'seeded')`;
  const values = new Map(rows.map(({ key, value }) => [key, value]));
  return { inUse: values.get(inUseKey), restored: values.get(restoredKey), isSeeded: values.has("seeded") };
}

async function accept(sql: Sql, fingerprint: string): Promise<void> {
  await transaction(sql, async (tx) => {
    await set(tx, inUseKey, fingerprint);
    await tx`delete from runtime_state where key = ${restoredKey}`;
  });
}

async function set(tx: Tx, key: string, value: string): Promise<void> {
  await tx`
    insert into runtime_state (key, value) values (${key}, ${value})
    on conflict (key) do update set value = excluded.value`;
}

async function setIfAbsent(sql: Sql, fingerprint: string): Promise<void> {
  await sql`insert into runtime_state (key, value) values (${inUseKey}, ${fingerprint}) on conflict do nothing`;
}

function missing(config: KeyConfig, fingerprint: string | undefined): Error {
  const which = fingerprint ? ` (fingerprint ${fingerprint})` : "";
  return new Error(
    `${placeOf(config)} is missing, and the secrets of this database are sealed with it${which}: ${remedy(config)}`,
  );
}

function another(config: KeyConfig, inUse: string | undefined, fingerprint: string): Error {
  return new Error(
    `the secrets of this database are sealed with the key of fingerprint ${inUse}, and ${placeOf(config)} is ${fingerprint}: ${remedy(config)}`,
  );
}

function remedy({ dataDir }: KeyConfig): string {
  return `put the right key into ${fileOf(dataDir)}, or set SECRET_KEY to it; every server of one database needs the same. If it is lost, run \`corestead secret-key accept\` and enter the secrets again`;
}

function restoredWarning({ dataDir }: KeyConfig, sealedWith: string): string {
  const which = sealedWith === unknown ? "a key that is not here" : `the key of fingerprint ${sealedWith}`;
  return `the restored secrets are sealed with ${which}: put that key into ${fileOf(dataDir)} (or SECRET_KEY) and restart; until then connectors and webhooks with a secret fail. If it is lost, enter the secrets again and run \`corestead secret-key accept\``;
}

function lossOf(): string {
  return "without it the secrets of connectors and webhooks cannot be read";
}

function placeOf({ dataDir, secretKey }: KeyConfig): string {
  return secretKey === "" ? fileOf(dataDir) : "SECRET_KEY";
}

function fileOf(dataDir: string): string {
  return join(dataDir, "secret.key");
}

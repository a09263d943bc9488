/** The replicas of DATABASE_READ_URL: whether each can answer reads, and how far it is behind. */
import type { Config } from "../../settings/config.ts";
import { openPool, type Sql } from "../../db/db.ts";
import { replicaAddresses, type ReplicaAddress } from "../../settings/replica-addresses.ts";
import { findingsOf, reasonOf, type Finding } from "../../plugin/finding.ts";

const replica = findingsOf("replica");
const behindBytes = 16_000_000;

interface Facts {
  readonly isStandby: boolean;
  readonly isPaused: boolean;
  readonly replayed: number;
  readonly pid: number;
  readonly system: string;
}

/** `sql` leads to the primary. */
export async function checkReplicas(sql: Sql, config: Config): Promise<Finding[]> {
  const connectTimeoutMs = config.databaseConnectSeconds * 1000;
  return Promise.all(
    replicaAddresses(config.databaseReadUrl).map((address) => checkReplica(sql, address, connectTimeoutMs)),
  );
}

async function checkReplica(sql: Sql, { name, url }: ReplicaAddress, connectTimeoutMs: number): Promise<Finding> {
  const options = { max: 1, prepare: false, pooled: true, connectTimeoutMs, applicationName: "corestead doctor" };
  const own = openPool({ url }, options);
  try {
    return await judge(sql, own, name);
  } catch (error) {
    const remedy = "reads go to the primary meanwhile: see that it runs, and that DATABASE_READ_URL is right";
    return replica.warn(`${name} does not answer: ${reasonOf(error)}`, remedy);
  } finally {
    await own.end({ timeout: 1 });
  }
}

async function judge(sql: Sql, own: Sql, name: string): Promise<Finding> {
  const system = "(select system_identifier::text from pg_control_system())";
  const [primary] = await sql<{ written: number; system: string }[]>`
    select (pg_current_wal_flush_lsn() - '0/0')::bigint as written, ${sql.unsafe(system)} as system`;
  const rows = await own<Facts[]>`
    select pg_is_in_recovery() as is_standby, pg_backend_pid() as pid, ${own.unsafe(system)} as system,
      pg_is_in_recovery() and pg_is_wal_replay_paused() as is_paused,
      coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint as replayed`.execute();
  const [facts] = rows;
  if (!primary || !facts) throw new Error("it does not say what it is");
  if (facts.system !== primary.system)
    return replica.warn(`${name} is no copy of this database`, "name standbys of DATABASE_URL in DATABASE_READ_URL");
  if (facts.pid !== rows.state.pid)
    return replica.warn(`${name} leads through a pooler`, "give the standby's own address in DATABASE_READ_URL");
  if (!facts.isStandby) return replica.ok(`${name} is a primary now: it is left out of the reads`);
  if (facts.isPaused) return replica.warn(`${name} does not replay`, "select pg_wal_replay_resume() there");
  const bytes = Math.max(0, primary.written - facts.replayed);
  const message = `${name} is ${bytes} bytes behind`;
  const remedy = "reads wait for it or go to the primary: look at its disk, its processors and the network";
  return bytes > behindBytes ? replica.warn(message, remedy) : replica.ok(message);
}

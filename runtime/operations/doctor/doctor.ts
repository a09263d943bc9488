/** `corestead doctor`: looks at everything that an installation needs, and changes nothing. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { migrationSets } from "../../db/runtime-migrations.ts";
import type { Config } from "../../settings/config.ts";
import { openPool, type DatabaseTarget, type Sql } from "../../db/db.ts";
import { loadExternalPlugins } from "../../plugin/external.ts";
import type { Modules } from "../../host/host.ts";
import { createLog } from "../../system/log.ts";
import { inOrder } from "../start/order.ts";
import { fetchOutside } from "../../outbound/outbound.ts";
import { connectOutside } from "../../outbound/outbound-socket.ts";
import type { Plugin } from "../../plugin/plugin.ts";
import { openDatabase, type Database } from "../postgres/database.ts";
import { isPooled } from "../../db/connections.ts";
import { runningPostgres } from "../postgres/running-postgres.ts";
import { packagedUnitFile, serviceUser, stateFolder, unitFile } from "../service/unit.ts";
import type { Environment } from "../../settings/settings.ts";
import { exists } from "../../system/whole-folder.ts";
import { checkBackups } from "./backups.ts";
import { checkDatabase } from "./database.ts";
import { findingLines, findingsOf, reasonOf, type BaseCheckContext, type Finding } from "../../plugin/finding.ts";
import { checkHosts, checkPorts, checkProxy, type Network } from "./network.ts";
import { probeWith } from "./probe.ts";
import { checkReplicas } from "./replicas.ts";
import { checkConfig } from "./settings.ts";
import { checkDataFolder, checkDisk, checkKeyFile, checkOwnCertificates } from "./storage.ts";
import { versionText } from "../../plugin/facts.ts";
import { writeOutput } from "../../system/output.ts";

export interface DoctorOptions {
  readonly env: Environment;
  readonly builtIn: readonly Plugin[];
  readonly modules: Modules;
  /** The folder of `.env`. */
  readonly folder: string;
  readonly addressesOf?: Network["addressesOf"];
  /** "/" but in tests. */
  readonly root?: string;
}

const quiet = createLog("error", () => {});

export async function doctor(options: DoctorOptions): Promise<readonly Finding[]> {
  const loaded = await external(options);
  const plugins = inOrder([...options.builtIn, ...loaded.plugins]);
  const { config, findings } = checkConfig({ env: options.env, plugins, folder: options.folder });
  const ofSettings = [...loaded.findings, ...findings];
  if (!config) return ofSettings;
  const { found, findings: ofKey } = checkKeyFile(config);
  const probe = probeWith(found, config.outboundCa);
  const ports = await checkPorts(config, probe);
  const network: Network = {
    config,
    probe,
    isServed: ports.isServed,
    ...(options.addressesOf && { addressesOf: options.addressesOf }),
  };
  const parts: Finding[][] = [
    ofSettings,
    elsewhere(options),
    await guarded("data", () => checkDataFolder(config)),
    ofKey,
  ];
  const database = await checkInDatabase({ plugins, network, env: options.env });
  parts.push(
    [...database.findings],
    [await checkDisk(config, config.databaseUrl === "" ? database.bytes : undefined)],
    [...ports.findings],
    await guarded("dns", () => checkHosts("hosts", baseHost(config), network)),
    await guarded("proxy", () => checkProxy(network)),
    await checkOwnCertificates(config),
    [...database.ofPlugins],
  );
  return parts.flat();
}

/** A service has the settings of its own folder, and another one may be meant here. */
function elsewhere({ env, folder, root = "/" }: DoctorOptions): Finding[] {
  const isInstalled = [unitFile, packagedUnitFile].some((file) => existsSync(join(root, file)));
  if (!isInstalled || env["DATA_DIR"] || folder === stateFolder) return [];
  const remedy = `cd ${stateFolder} && sudo -u ${serviceUser} corestead doctor`;
  return [findingsOf("settings").warn(`these are those of ${folder}, not of the service in ${stateFolder}`, remedy)];
}

function baseHost({ baseUrl }: Config): string[] {
  return baseUrl === "" ? [] : [new URL(baseUrl).hostname];
}

/** Plugins of PLUGINS_DIR have settings and checks of their own. */
async function external({ env, modules }: DoctorOptions): Promise<{ plugins: Plugin[]; findings: Finding[] }> {
  try {
    return { plugins: await loadExternalPlugins(env["PLUGINS_DIR"]?.trim() ?? "", modules), findings: [] };
  } catch (error) {
    const remedy = "mend or remove it: the server does not start with it";
    return { plugins: [], findings: [findingsOf("plugins").fail(reasonOf(error), remedy)] };
  }
}

/** A check that fails is a finding: the others go on. */
async function guarded(check: string, run: () => Promise<readonly Finding[]>): Promise<Finding[]> {
  try {
    return [...(await run())];
  } catch (error) {
    return [findingsOf(check).fail(`could not be looked at: ${reasonOf(error)}`, "mend that first, and ask again")];
  }
}

interface CheckInput {
  readonly plugins: readonly Plugin[];
  readonly network: Network;
  readonly env: Environment;
}

interface DatabaseReport {
  readonly findings: readonly Finding[];
  readonly ofPlugins: readonly Finding[];
  readonly bytes: number | undefined;
}

async function checkInDatabase(input: CheckInput): Promise<DatabaseReport> {
  const { config } = input.network;
  const report = findingsOf("database");
  const none = { ofPlugins: [], bytes: undefined };
  if (config.databaseUrl === "" && !(await exists(join(config.dataDir, "postgres"))))
    return { ...none, findings: [report.ok("there is none yet: the first start makes it")] };
  let database: Database | undefined;
  try {
    database = await attach(config);
    if (!database) {
      const remedy = "call it as the server's user, in its folder, or start the server";
      return { ...none, findings: [report.warn("it is stopped, and belongs to another user", remedy)] };
    }
    return await checkAt(database.target, input);
  } catch (error) {
    const remedy = config.databaseUrl
      ? "see that PostgreSQL runs, and that host, user and password of DATABASE_URL are right"
      : `see ${join(config.dataDir, "postgres.log")}`;
    return { ...none, findings: [report.fail(`it does not answer: ${reasonOf(error)}`, remedy)] };
  } finally {
    await database?.stop();
  }
}

/**
 * The embedded server of a running Corestead, or one that is started to look at it. Undefined for root in the folder of
 * another user: what root leaves there, such as a log, would stop that user's next start.
 */
async function attach(config: Config): Promise<Database | undefined> {
  const target = config.databaseUrl ? undefined : await runningPostgres(config.dataDir);
  if (target) return { target, stop: async () => {} };
  const owner = (await stat(config.dataDir).catch(() => undefined))?.uid;
  if (config.databaseUrl === "" && process.getuid?.() === 0 && owner !== undefined && owner !== 0) return undefined;
  return openDatabase({ config: { ...config, databaseWaitSeconds: 0 }, log: quiet });
}

async function checkAt(target: DatabaseTarget, input: CheckInput): Promise<DatabaseReport> {
  const { config } = input.network;
  const connectTimeoutMs = config.databaseConnectSeconds * 1000;
  const pooled = await isPooled(target, connectTimeoutMs);
  const options = { max: 2, prepare: false, pooled, connectTimeoutMs, applicationName: "corestead doctor" };
  const sql = openPool(target, options);
  try {
    const sets = migrationSets(input.plugins);
    const { findings, bytes, ready } = await checkDatabase({ sql, config, sets, pooled });
    const clock = await guarded("clock", async () => [await databaseClock(sql)]);
    const replicas = await guarded("replica", () => checkReplicas(sql, config));
    const backups = ready.has("runtime") ? await guarded("backup", () => checkBackups(sql, config, target)) : [];
    const ofPlugins = await checkPlugins(sql, ready, input);
    return { findings: [...findings, ...replicas, ...clock], ofPlugins: [...backups, ...ofPlugins], bytes };
  } finally {
    await sql.end({ timeout: 2 });
  }
}

async function databaseClock(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return checkClock("the database", row?.now ?? new Date());
}

async function checkPlugins(sql: Sql, ready: ReadonlySet<string>, input: CheckInput): Promise<Finding[]> {
  const { network, env, plugins } = input;
  const { config } = network;
  const ca = config.outboundCa === "" ? {} : { ca: config.outboundCa };
  const outside = { allow: config.outboundAllow, log: quiet, ...ca };
  const base: BaseCheckContext = {
    sql,
    fetch: (url, request) => fetchOutside(outside, url, request),
    connect: (to) => connectOutside(outside, to),
    isHttps: config.https === "on",
    hosts: (what, names) => checkHosts(what, names, network),
    clock: checkClock,
  };
  const found: Finding[] = [];
  for (const { name, checks } of plugins)
    if (checks && ready.has(name)) found.push(...(await guarded(name, () => checks(base, env))));
  return found;
}

const clock = findingsOf("clock");
/** A one-time code is good for half a minute; the header Date has whole seconds. */
const closeMs = 5_000;
const farMs = 30_000;

/** Compares this machine's clock with another one. */
export function checkClock(whose: string, its: Date, own = new Date()): Finding {
  const ms = own.getTime() - its.getTime();
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (Math.abs(ms) <= closeMs) return clock.ok(`it agrees with that of ${whose}`);
  const message = `it is ${seconds} s ${ms > 0 ? "ahead of" : "behind"} that of ${whose}`;
  const remedy = "switch on time synchronisation (timedatectl set-ntp true) on both machines";
  if (Math.abs(ms) <= farMs) return clock.warn(message, remedy);
  return clock.fail(`${message}: one-time codes, links in mails and certificates fail`, remedy);
}

export async function runDoctor(options: DoctorOptions, { json }: { json: boolean }): Promise<number> {
  const findings = await doctor(options);
  const has = (wanted: string) => findings.some(({ state }) => state === wanted);
  const state = has("fail") ? "fail" : has("warn") ? "warn" : "ok";
  const text = json
    ? JSON.stringify({ version: versionText, state, findings }, undefined, 2)
    : findingLines(findings).join("\n");
  writeOutput(`${text}\n`);
  return state === "fail" ? 1 : 0;
}

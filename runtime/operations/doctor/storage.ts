/** The data folder, the key in it, own certificates, and the room that is left. */
import { X509Certificate } from "node:crypto";
import { access, constants, readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../settings/config.ts";
import { readPair } from "../https/own-certificates.ts";
import { existing } from "../../system/room.ts";
import { findSecretKey } from "../../base/secrets.ts";
import { findingsOf, reasonOf, type Finding } from "../../plugin/finding.ts";

const folder = findingsOf("data");
const key = findingsOf("key");
const disk = findingsOf("disk");
const certificates = findingsOf("tls");

const othersMayWrite = 0o022;
const othersMayRead = 0o077;

export async function checkDataFolder({ dataDir }: Config): Promise<Finding[]> {
  const found = await stat(dataDir).catch(() => undefined);
  if (!found) return [folder.warn(`${dataDir} is not there yet`, "the first start makes it, unless DATA_DIR is wrong")];
  if (!found.isDirectory()) return [folder.fail(`${dataDir} is no folder`, "set DATA_DIR to a folder")];
  const findings: Finding[] = [];
  const isOpen = (mode: number, bits: number) => process.platform !== "win32" && (mode & bits) !== 0;
  if (isOpen(found.mode, othersMayWrite))
    findings.push(folder.fail(`other users can write into ${dataDir}`, `chmod go-w ${dataDir}`));
  const mayWrite = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite)
    findings.push(
      folder.fail(`this user may not write into ${dataDir} (it belongs to uid ${found.uid})`, "run it as that user"),
    );
  const keyFile = join(dataDir, "secret.key");
  const keyMode = await stat(keyFile).then(
    ({ mode }) => mode,
    () => 0,
  );
  if (isOpen(keyMode, othersMayRead))
    findings.push(key.fail(`other users can read ${keyFile}`, `chmod 600 ${keyFile}`));
  return findings.length > 0 ? findings : [folder.ok(`${dataDir} belongs to this server alone`)];
}

/** The key that is here, and what is wrong with where it stands. */
export function checkKeyFile({ dataDir, secretKey }: Config): { found: string | undefined; findings: Finding[] } {
  try {
    const found = findSecretKey(dataDir, secretKey);
    const inFile = secretKey === "" ? undefined : findSecretKey(dataDir, undefined);
    if (inFile === undefined || inFile === found) return { found, findings: [] };
    const message = `SECRET_KEY is another key than the one in ${join(dataDir, "secret.key")}, which is not used`;
    return { found, findings: [key.warn(message, "remove the one that is wrong, so that nobody restores with it")] };
  } catch (error) {
    const remedy = "put the right key back, readable for this server's user";
    return { found: undefined, findings: [key.fail(`the secret key cannot be read: ${reasonOf(error)}`, remedy)] };
  }
}

const mega = 1_000_000;
const fewBytes = 1_000 * mega;
const fewFiles = 10_000;

/** `databaseBytes`: of a database on this disk; a backup, and a migration that rewrites tables, need as much again. */
export async function checkDisk(
  { dataDir, diskReserveBytes }: Pick<Config, "dataDir" | "diskReserveBytes">,
  databaseBytes: number | undefined,
): Promise<Finding> {
  const place = await existing(dataDir);
  const { bavail, bsize, ffree, files } = await statfs(place);
  const free = bavail * bsize;
  const told = `${size(free)} free at ${place}`;
  const remedy = "make room, or move DATA_DIR to a larger disk";
  if (free < diskReserveBytes)
    return disk.fail(`${told}: uploads and imports are refused, and PostgreSQL stops when it is full`, remedy);
  if (files > 0 && ffree < fewFiles) return disk.warn(`only ${ffree} more files fit at ${place}`, remedy);
  if (free < fewBytes) return disk.warn(told, remedy);
  if (databaseBytes === undefined) return disk.ok(told);
  const both = `${told}, and the database has ${size(databaseBytes)}`;
  return free < databaseBytes ? disk.warn(`${both}: a backup may not fit`, remedy) : disk.ok(both);
}

function size(bytes: number): string {
  return bytes < 1_000 * mega ? `${Math.round(bytes / mega)} MB` : `${(bytes / 1_000 / mega).toFixed(1)} GB`;
}

const dayMs = 86_400_000;
const soonDays = 14;

/** The files of TLS_DIR. */
export async function checkOwnCertificates({ tlsDir, https }: Config): Promise<Finding[]> {
  if (tlsDir === "" || https !== "on") return [];
  try {
    const names = (await readdir(tlsDir)).filter((name) => name.endsWith(".crt"));
    if (names.length === 0)
      return [certificates.warn(`${tlsDir} has no certificates`, "put NAME.crt and NAME.key there, or unset TLS_DIR")];
    return await Promise.all(names.toSorted().map((name) => checkPair(join(tlsDir, name.slice(0, -".crt".length)))));
  } catch (error) {
    return [certificates.fail(`TLS_DIR cannot be read: ${reasonOf(error)}`, "make it readable for the server's user")];
  }
}

async function checkPair(path: string): Promise<Finding> {
  const crt = `${path}.crt`;
  try {
    const { chain } = await readPair({ crt, key: `${path}.key` });
    const ends = new X509Certificate(chain).validToDate;
    const days = Math.floor((ends.getTime() - Date.now()) / dayMs);
    const renew = "replace the .crt and .key with newer ones; the server reads them by itself";
    if (days < 0) return certificates.fail(`${crt} ended on ${ends.toISOString().slice(0, 10)}`, renew);
    if (days < soonDays) return certificates.warn(`${crt} ends in ${days} days`, renew);
    const { mode } = await stat(`${path}.key`);
    if ((mode & 0o004) !== 0)
      return certificates.warn(`every user of this machine can read ${path}.key`, `chmod 600 ${path}.key`);
    return certificates.ok(`${crt} is valid for ${days} more days`);
  } catch (error) {
    return certificates.fail(
      `${crt} cannot be used: ${reasonOf(error)}`,
      "put the certificate and its key there as PEM",
    );
  }
}

/** The file of another version: whether it is whole, who has signed it, and which version it is. */
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Machine } from "../service/steps.ts";

interface Candidate {
  /** An executable, or a release's archive with one. */
  readonly file: string;
  /** A file with the public key (PEM, Ed25519) of whoever makes the releases; "" = the signature is not asked for. */
  readonly keyFile: string;
}

/**
 * Compares the file with the checksum beside it (`FILE.sha256`, or SHA256SUMS), and that one's signature with the key.
 * Returns what was checked; throws if anything is wrong, or if there is no signature and a key was given.
 */
export async function checkFile({ file, keyFile }: Candidate): Promise<string[]> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const sums = sumsBeside(file);
  const signature = sums && `${sums.file}.sig`;
  const isSigned = signature !== undefined && existsSync(signature);
  if (keyFile !== "" && !isSigned)
    throw new Error(`nothing beside ${file} is signed: there is no SHA256SUMS with SHA256SUMS.sig`);
  if (!sums) return [`there is no SHA256SUMS beside ${file}: it was not checked`];
  if (keyFile !== "" && signature) checkSignature(sums.file, signature, keyFile);
  const sum = await sha256(file);
  if (sum !== sums.sum) throw new Error(`${file} is damaged: its SHA-256 is ${sum}, and ${sums.file} says ${sums.sum}`);
  const told = [`${file} is as ${sums.file} says`];
  if (keyFile !== "") told.push(`${sums.file} is signed with ${keyFile}`);
  else if (isSigned) told.push(`its signature was not checked: give the key of the releases with --key FILE`);
  return told;
}

/** The checksum of a file that stands beside it. */
function sumsBeside(file: string): { file: string; sum: string } | undefined {
  const name = basename(file);
  for (const sums of [`${file}.sha256`, join(dirname(file), "SHA256SUMS")]) {
    if (!existsSync(sums)) continue;
    const lines = readFileSync(sums, "utf8").trim().split("\n");
    // `sum  name`, with a star before the name of a binary file; FILE.sha256 may have the sum alone.
    const line = lines.find(
      (text) => text.slice(64).trim().replace(/^\*/, "") === name || text === lines.join("").slice(0, 64),
    );
    const sum = line?.slice(0, 64).toLowerCase() ?? "";
    if (!/^[\da-f]{64}$/.test(sum)) throw new Error(`${sums} says nothing about ${name}`);
    return { file: sums, sum };
  }
  return undefined;
}

function checkSignature(file: string, signature: string, keyFile: string): void {
  const key = createPublicKey(readFileSync(keyFile, "utf8"));
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`${keyFile} is not the public key of Ed25519 signatures`);
  if (!verify(null, readFileSync(file), key, readFileSync(signature)))
    throw new Error(`${file} was not signed with the key of ${keyFile}: do not use it`);
}

async function sha256(file: string): Promise<string> {
  const hasher = createHash("sha256");
  for await (const chunk of createReadStream(file)) hasher.update(chunk);
  return hasher.digest("hex");
}

/** The executable: the file itself, or that of an archive, unpacked into `folder`. */
export async function executableOf(file: string, folder: string, { run }: Pick<Machine, "run">): Promise<string> {
  if (!file.endsWith(".tar.gz")) return file;
  const { code, output } = await run(["tar", "-xzf", file, "-C", folder, "--no-same-owner"]);
  if (code !== 0) throw new Error(`${file} cannot be unpacked: ${output}`);
  const found = ["", ...readdirSync(folder)]
    .map((name) => join(folder, name, "corestead"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${file} has no executable "corestead" in it`);
  return found;
}

/** What an executable says of itself with --version. Throws if it does not run here or is another program. */
export async function versionOf(executable: string, { run }: Pick<Machine, "run">): Promise<string> {
  const { code, output } = await run([executable, "--version"]).catch((error: unknown) => {
    throw new Error(`${executable} does not run on this machine`, { cause: error });
  });
  const [, version] = /^corestead (\d{1,9}\.\d{1,9}\.\d{1,9}\S{0,60}) \(platform /m.exec(output) ?? [];
  if (code === 0 && version !== undefined) return version;
  throw new Error(`${executable} is no Corestead that runs on this machine: ${output.split("\n")[0]?.slice(0, 200)}`);
}

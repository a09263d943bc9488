/** Certificates from files: `NAME.crt` (the certificate, followed by those that sign it) beside `NAME.key`, as PEM. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../system/log.ts";
import type { KeyPair } from "../../plugin/certificates.ts";

interface Own extends KeyPair {
  readonly certificate: X509Certificate;
}

const lookAgainMs = 5_000;
const maxFiles = 1_000;

export type OwnCertificates = ReturnType<typeof createOwnCertificates>;

/** Looks at the folder again and again: its files may be exchanged. "" is no folder. */
export function createOwnCertificates(folder: string, log: Log) {
  const listeners: (() => void)[] = [];
  let all: readonly Own[] = [];
  let state: string | undefined;

  const look = async (): Promise<void> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith(".crt")).slice(0, maxFiles);
    const pairs = names.toSorted().map((name) => pathsOf(join(folder, name)));
    const now = (await Promise.all(pairs.flatMap(({ crt, key }) => [crt, key]).map(stamp))).join(" ");
    if (now === state) return;
    const isFirst = state === undefined;
    state = now;
    const read = pairs.map((pair) =>
      readPair(pair).catch((error: unknown) => {
        log.error("a certificate cannot be used", { file: pair.crt, error });
        return undefined;
      }),
    );
    all = (await Promise.all(read)).filter((pair) => pair !== undefined);
    if (!isFirst) for (const changed of listeners) changed();
  };
  const tryLook = () => look().catch((error: unknown) => log.error("TLS_DIR cannot be read", { folder, error }));
  const first = folder === "" ? undefined : tryLook();
  const timer = folder === "" ? undefined : setInterval(() => void tryLook(), lookAgainMs);

  return {
    /** The one that is valid longest, of those for this host or a wildcard above it. */
    async find(host: string): Promise<KeyPair | undefined> {
      await first;
      const fitting = all.filter(({ certificate }) => certificate.checkHost(host) !== undefined);
      return fitting.toSorted((a, b) => b.certificate.validToDate.getTime() - a.certificate.validToDate.getTime())[0];
    },
    onChange: (changed: () => void) => void listeners.push(changed),
    stop: () => clearInterval(timer),
  };
}

interface Paths {
  readonly crt: string;
  readonly key: string;
}

const pathsOf = (crt: string): Paths => ({ crt, key: `${crt.slice(0, -"crt".length)}key` });

async function stamp(file: string): Promise<string> {
  const { mtimeMs, size } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
  return `${file}:${mtimeMs}:${size}`;
}

export async function readPair({ crt, key: keyFile }: Paths): Promise<Own> {
  const [chain, key] = await Promise.all([readFile(crt, "utf8"), readFile(keyFile, "utf8")]);
  const certificate = new X509Certificate(chain);
  if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error(`${keyFile} is not the key of ${crt}`);
  return { chain, key, certificate };
}

/** Debian's pebble, an ACME authority for tests, with its DNS server: every name is 127.0.0.1. */
// needs: pebble
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../tests/harness.ts";

export interface Pebble {
  /** The address of its directory. */
  readonly directory: string;
  /** PEM file of the authority of its own https. */
  readonly caFile: string;
  /** The root of the certificates that it issues, as PEM. */
  readonly root: () => Promise<string>;
  readonly stop: () => void;
}

export interface PebbleOptions {
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly env?: Readonly<Record<string, string>>;
}

export const pebbleProgram = Bun.which("pebble");

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      return typeof address === "object" && address ? address.port : 0;
    }),
  );
}

export async function startPebble({ httpPort, tlsPort, env = {} }: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), "corestead-pebble-"));
  const [port = 0, management = 0, dns = 0, dnsManagement = 0] = await freePorts(4);
  const [caFile, certificate, key] = ["ca.pem", "own.pem", "own.key"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const openssl = (...words: string[]) => Bun.spawnSync(["openssl", ...words], { stderr: "ignore" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", "/CN=pebble", "-addext", "subjectAltName=IP:127.0.0.1"];
  openssl("req", "-x509", ...curve, "-keyout", key, "-out", certificate, ...names);
  await Bun.write(caFile, Bun.file(certificate));
  const config = join(folder, "config.json");
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate,
    privateKey: key,
    httpPort,
    tlsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    retryAfter: { authz: 1, order: 1 },
  };
  writeFileSync(config, JSON.stringify({ pebble }));
  const quiet = { stdout: "ignore", stderr: "ignore" } as const;
  const names4 = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""];
  const off = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""];
  const resolver = Bun.spawn(
    [
      "pebble-challtestsrv",
      "-dns01",
      `127.0.0.1:${dns}`,
      "-management",
      `127.0.0.1:${dnsManagement}`,
      ...off.slice(0, 6),
      ...names4,
    ],
    quiet,
  );
  const authority = Bun.spawn(["pebble", "-config", config, "-dnsserver", `127.0.0.1:${dns}`], {
    ...quiet,
    env: { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", ...env },
  });
  const get = (path: string) => fetch(`https://127.0.0.1:${management}${path}`, { tls: { rejectUnauthorized: false } });
  await eventually(async () => (await get("/roots/0").catch(() => undefined))?.ok, "pebble");
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    caFile,
    root: async () => (await get("/roots/0")).text(),
    stop() {
      authority.kill();
      resolver.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

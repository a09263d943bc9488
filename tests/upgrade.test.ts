/** `corestead upgrade` with real servers: another version migrates the database, fails, and the old one has all again. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { datagrams } from "./fixtures/datagrams.ts";
import { runOnMachine, type CommandResult } from "../runtime/operations/service/steps.ts";
import { upgrade } from "../runtime/operations/upgrade/upgrade.ts";
import { eventually, requester } from "./harness.ts";
import { cleanUp, folderWith, fromSource } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);

const root = folderWith();
const folder = join(root, "var/lib/corestead");
const current = join(root, "corestead");
const port = freePort();
let running: Bun.Subprocess | undefined;
let isReady = false;
afterAll(async () => {
  running?.kill();
  await running?.exited;
  await cleanUp();
});

function freePort(): number {
  const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port: taken = 0 } = free;
  void free.stop(true);
  return taken;
}

const clean = { PATH: process.env["PATH"] ?? "" };

/** What systemd does for the service: it waits for READY=1, and knows whether the process has ended. */
async function systemctl(
  action: string,
  notified: ReturnType<typeof datagrams>,
  socket: string,
): Promise<CommandResult> {
  if (action === "start") {
    isReady = false;
    const env = { ...clean, NOTIFY_SOCKET: socket };
    running = Bun.spawn([current, "serve"], { cwd: folder, env, stdout: "ignore", stderr: "ignore" });
  }
  if (action === "stop") {
    running?.kill();
    await running?.exited;
  }
  for (let state = notified.next(); state !== ""; state = notified.next()) isReady ||= state.startsWith("READY=1\n");
  const hasEnded = running === undefined || running.exitCode !== null || running.signalCode !== null;
  const active = hasEnded ? "failed" : isReady ? "active" : "activating";
  const output = `LoadState=loaded\nActiveState=${active}\nSubState=${active}\nExecStart={ path=${current} ; }\nWorkingDirectory=/var/lib/corestead`;
  return { code: 0, output };
}

/** A version that writes down a migration, breaks the data, and ends. */
const newer = `
  import { openPool } from ${JSON.stringify(join(import.meta.dir, "../runtime/db/db.ts"))};
  import { createLog } from ${JSON.stringify(join(import.meta.dir, "../runtime/system/log.ts"))};
  import { startEmbeddedPostgres } from ${JSON.stringify(join(import.meta.dir, "../runtime/operations/postgres/embedded-postgres.ts"))};
  const server = await startEmbeddedPostgres({ dataDir: "data", log: createLog("error") });
  const sql = openPool(server.target);
  await sql\`insert into migrations (plugin, name, checksum) values ('mail', '099_newer', 'x')\`;
  await sql\`delete from prompts\`;
  await sql.end();
  await server.stop();
  process.exit(1);`;

test.skipIf(process.platform !== "linux" || !existsSync("/lib64/ld-linux-x86-64.so.2"))(
  "a version that migrates and then fails leaves nothing behind",
  async () => {
    mkdirSync(folder, { recursive: true });
    const token = "the-administrator's-token-of-upgrade.test.ts";
    const settings = { PORT: port, LOG_LEVEL: "error", CORE_ADMIN_PASSWORD: "correct horse battery staple" };
    const lines = Object.entries({ ...settings, CORE_ADMIN_TOKEN: token }).map(
      ([name, value]) => `${name}="${value}"\n`,
    );
    writeFileSync(join(folder, ".env"), lines.join(""));
    writeFileSync(current, `#!/bin/sh\nexec ${fromSource.join(" ")} "$@"\n`, { mode: 0o755 });
    writeFileSync(join(root, "newer.ts"), newer);
    const file = join(root, "corestead-next");
    const version = `[ "$1" = --version ] && echo "corestead 99.0.0 (platform 1.0.0)" && exit`;
    writeFileSync(file, `#!/bin/sh\n${version}\nexec ${process.execPath} ${root}/newer.ts\n`, { mode: 0o755 });

    const socket = join(root, "notify");
    using notified = datagrams(socket);
    const act = (action: string) => systemctl(action, notified, socket);
    await act("start");
    await eventually(
      async () => (await act("show")).output.includes("ActiveState=active"),
      "the server is ready",
      60_000,
    );
    const request = requester(`http://127.0.0.1:${port}`);
    const prompt = { name: "Greeting", code: "greeting", kind: "chat", content: "Hello" };
    expect((await request("POST", "/core/prompts.json", { prompt }, { token })).status).toBe(201);

    const said: string[] = [];
    const code = await upgrade({
      root,
      run: (words, place) => (words[0] === "systemctl" ? act(words[1] ?? "") : runOnMachine(words, place)),
      file,
      keyFile: "",
      allowDowngrade: false,
      backupFile: "",
      current,
      version: manifest.version,
      folder,
      env: {},
      say: (line) => void said.push(line),
      now: new Date(),
      readyWithinMs: 60_000,
    });
    expect([code, said.at(-1)]).toEqual([1, `${manifest.version} serves again`]);
    expect(said.join("\n")).toContain("the database had been migrated: the backup is restored");
    expect((await request("GET", "/core/prompt/greeting.md", undefined, { token })).text).toBe("Hello");
    expect(readdirSync(join(folder, "data")).some((name) => name.startsWith("postgres.failed-"))).toBe(true);
    await act("stop");
  },
);

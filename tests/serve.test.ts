/** `corestead serve` as a process: what it prints, refuses and leaves behind. behaviour B.2. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { parseHeader, readFrames } from "../runtime/operations/dump/backup-file.ts";
import { runtimeSettings } from "../runtime/settings/config.ts";
import { eventually, type Answer } from "./harness.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);
afterAll(cleanUp);

const adminToken = "an administrator's token for serve.test.ts".replaceAll(" ", "-");
const admin = { CORE_ADMIN_PASSWORD: "correct horse battery staple", CORE_ADMIN_TOKEN: adminToken };

/** Shows which process answers, and has requests and jobs that wait for the end. */
const probe = `
  import { definePlugin, job, ok, on, route, tooMany } from "platform";
  const open = { access: { open: "a test asks" }, summary: "", responses: { 200: {} } };
  const endless = job<null>("probe.endless");
  let waiting = 0;
  let endlessRuns = 0;
  export default definePlugin({
    name: "probe",
    setup(ctx) {
      const limiter = ctx.limiter("probe", { limit: 10, windowSeconds: 600 });
      const stopping = new Promise((resolve) => ctx.stopping.addEventListener("abort", resolve));
      return {
        handlers: [on(endless, () => { endlessRuns++; return new Promise(() => {}); })],
        routes: [
          route("GET", "/probe/process", open, () => ok({ pid: process.pid, waiting, endlessRuns })),
          route("GET", "/probe/wait", open, async () => { waiting++; await stopping; return ok("finished"); }),
          route("GET", "/probe/hang", open, () => { waiting++; return new Promise(() => {}); }),
          route("POST", "/probe/endless", open, async () => { await ctx.enqueue(endless, null); return ok(null); }),
          route("GET", "/probe/limited", open, async () => {
            const taken = await limiter.take("everyone");
            if (!taken.allowed) throw tooMany(taken.retryAfterSeconds);
            return ok("taken");
          }),
        ],
      };
    },
  });`;

const newConnection = { headers: { connection: "close" } };

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie has ended; nobody has waited for it yet.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function postgresPid(cwd: string): number {
  return Number.parseInt(readFileSync(join(cwd, "data/postgres/postmaster.pid"), "utf8"), 10);
}

describe("on an empty folder", () => {
  const cwd = folderWith();
  let server: ServerProcess;
  let printed: { password: string; token: string };

  test("it prints the address and the generated credentials, and both work", async () => {
    server = await startServer(fromSource, { cwd });
    const [, password = "", token = ""] = /admin, password: (\S+)\nAPI token: (core_\S+)\n/.exec(server.stdout()) ?? [];
    printed = { password, token };
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await server.request("GET", "/ready", undefined, { token: null })).status).toBe(200);
    const signedIn = await server.request(
      "POST",
      "/account/session.json",
      { login: "admin", password },
      { token: null },
    );
    expect(signedIn.status).toBe(201);
    const me = await server.request("GET", "/account/me.json", undefined, { token });
    expect(me.json).toMatchObject({ login: "admin", role: "admin" });
  });

  test("a second start on the folder is told who holds it and ends, the first goes on", async () => {
    const second = await run(fromSource, { cwd });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`is in use by another corestead process (pid ${server.pid})`);
    expect(second.stderr.trim().split("\n")).toHaveLength(1);
    expect((await server.request("GET", "/ready", undefined, { token: null })).status).toBe(200);
  });

  test("a taken port is one clear line", async () => {
    const port = new URL(server.origin).port;
    for (const WORKERS of ["1", "2"]) {
      const second = await run(fromSource, { cwd: folderWith(), env: { PORT: port, WORKERS } });
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`corestead: PORT: another program listens on 127.0.0.1:${port}\n`);
      expect(second.stderr.trim().split("\n").filter(isForPeople)).toHaveLength(1);
      // No credentials of a server that nobody reaches.
      expect(second.stdout).toBe("");
    }
  });

  test("commands work beside the server", async () => {
    const made = await run([...fromSource, "token", "create", "--user", "admin", "--name", "cli"], { cwd });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const me = await server.request("GET", "/account/me.json", undefined, { token: made.stdout.trim() });
    expect(me.json).toMatchObject({ login: "admin" });
  });

  test("a command's log is whole through a pipe: a backup names every table", async () => {
    const made = await run([...fromSource, "backup", "all.backup"], { cwd, env: { LOG_LEVEL: "info" } });
    expect(made.code).toBe(0);
    const frames = readFrames(join(cwd, "all.backup"));
    const first = await frames.next();
    const tables = first.done ? [] : parseHeader(first.value).tables;
    await frames.return(undefined);
    expect(tables.length).toBeGreaterThan(30);
    expect(made.stderr.match(/"backed up"/g)).toHaveLength(tables.length);
  });

  test("the next start prints no credentials, and the old ones work", async () => {
    expect(await server.stop()).toBe(0);
    expect(existsSync(join(cwd, "data/postgres/postmaster.pid"))).toBe(false);
    server = await startServer(fromSource, { cwd });
    expect(server.stdout()).not.toMatch(/password|core_/);
    expect((await server.request("GET", "/account/me.json", undefined, { token: printed.token })).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});

/** A line that is not part of the structured log. */
function isForPeople(line: string): boolean {
  return !line.startsWith("{");
}

describe.if(Bun.which("script") !== null)("on a terminal", () => {
  test.each(["1", "2"])(
    "people's lines are logged, and the credentials come last, with WORKERS=%s",
    async (WORKERS) => {
      const cwd = folderWith();
      const command = fromSource.map((word) => `'${word}'`).join(" ");
      const env = { PATH: process.env["PATH"], PORT: "0", WORKERS };
      const child = Bun.spawn(["script", "-qec", command, "/dev/null"], { cwd, env, stdin: "ignore", stdout: "pipe" });
      let said = "";
      /** Up to the moment when it is told to stop, of which the log may tell too. */
      let atStart = "";
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += text.replaceAll("\r", "");
        if (atStart !== "" || !said.includes("This is shown only once.\n")) continue;
        atStart = said;
        process.kill(Number(readFileSync(join(cwd, "data/corestead.pid"), "utf8")), "SIGTERM");
      }
      expect(await child.exited).toBe(0);
      expect(said).not.toContain("{");
      expect(said).toMatch(/^\d\d:\d\d:\d\d making the tables migrations=\d+$/m);
      // Each process has said what it has to say before.
      expect(atStart.match(/no backups are scheduled/g)).toHaveLength(Number(WORKERS));
      expect(atStart).toMatch(
        /\nCorestead serves on http:\S+( with 2 processes)?\n\nAdministrator: admin, password: \S+\nAPI token: core_\S+\nThis is shown only once\.\n\s*$/,
      );
    },
  );
});

test.each(plugins.flatMap(({ name, children = {} }) => Object.keys(children).map((child) => [name, child] as const)))(
  "the child %s %s starts without the other plugins",
  async (name, child) => {
    const started = Bun.spawn([...fromSource, "child", name, child], { stdin: new Blob([]), stdout: "pipe" });
    expect(await new Response(started.stdout).text()).toBe('{"ready":true}\n');
  },
);

test("help names every setting, those of plugins too; a wrong command gets the commands alone", async () => {
  const help = await run([...fromSource, "help"], { cwd: folderWith() });
  expect(help.code).toBe(0);
  const settings = [runtimeSettings, ...plugins.map(({ config }) => config)].flatMap((all) => Object.values(all));
  for (const { env } of settings) expect(help.stdout.split(`\n  ${env} `)).toHaveLength(2);
  const wrong = await run([...fromSource, "sing"], { cwd: folderWith() });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('there is no command "sing"')]);
  expect(wrong.stderr).not.toContain("DATABASE_POOL");
});

test("CORE_ADMIN_* are the first credentials, and are not printed", async () => {
  const dotenv = `CORE_ADMIN_LOGIN=root\nCORE_ADMIN_PASSWORD=${admin.CORE_ADMIN_PASSWORD}\nCORE_ADMIN_TOKEN=${adminToken}\n`;
  const server = await startServer(fromSource, { cwd: folderWith({ ".env": dotenv }) });
  const body = { login: "root", password: admin.CORE_ADMIN_PASSWORD };
  expect((await server.request("POST", "/account/session.json", body, { token: null })).status).toBe(201);
  expect((await server.request("GET", "/account/me.json", undefined, { token: adminToken })).json.login).toBe("root");
  expect(server.stdout() + server.stderr()).not.toContain(adminToken);
  expect(server.stdout() + server.stderr()).not.toContain(admin.CORE_ADMIN_PASSWORD);
  expect(await server.stop()).toBe(0);
});

test("wrong settings are a line each, of the runtime and of plugins, and nothing is made", async () => {
  const cwd = folderWith({
    "plugins/mine.ts": `
      import { definePlugin, setting } from "platform";
      const size = setting.integer("MINE_SIZE", 1, "a size", { min: 1, max: 9 });
      export default definePlugin({ name: "mine", config: { size }, setup: () => ({}) });`,
  });
  const env = {
    PORT: "http",
    WORKERS: "0",
    BASE_URL: "core.example.com",
    DATABASE_URL: "mysql://x",
    LOG_LEVEL: "loud",
    OUTBOUND_ALLOW: "!!",
    CORE_TIMEZONE: "Mars/Base",
    CORE_LOCALE: "xx",
  };
  const refused = await run(fromSource, { cwd, env });
  const lines = refused.stderr.trim().split("\n");
  expect(refused.code).toBe(1);
  for (const name of Object.keys(env))
    expect(lines.filter((line) => line.startsWith(`corestead: ${name} must`))).toHaveLength(1);
  expect(lines).toHaveLength(8);

  const external = await run(fromSource, { cwd, env: { PLUGINS_DIR: "plugins", MINE_SIZE: "10" } });
  expect(external).toMatchObject({ code: 1, stderr: "corestead: MINE_SIZE must be a whole number from 1 to 9\n" });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("a wrong setting of a built-in plugin is said when PostgreSQL starts already, which then ends", async () => {
  const cwd = folderWith();
  const refused = await run(fromSource, { cwd, env: { CORE_TIMEZONE: "Mars/Base" } });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^corestead: CORE_TIMEZONE must .*\n$/) });
  expect(existsSync(join(cwd, "data/postgres/PG_VERSION"))).toBe(true);
  expect(existsSync(join(cwd, "data/postgres/postmaster.pid"))).toBe(false);
  expect(existsSync(join(cwd, "data/corestead.pid"))).toBe(false);
});

describe("the command line", () => {
  const unknown = ["sevre", "token", "token made", "tokens create", "__proto__", "greet all"];
  test.each(unknown)("%p is no command, and nothing is written", async (words) => {
    const command = words.split(" ");
    const cwd = folderWith();
    const refused = await run([...fromSource, ...command], { cwd });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`there is no command "${words}"`);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("knows the commands of external plugins", async () => {
    const plugin = (facts: string) => `
      import { definePlugin } from "platform";
      const run = async (options, words) => ["Hello, " + words.join(" and ")];
      export default definePlugin({
        name: "greeter",
        ${facts}
        setup: () => ({ commands: [{ name: "greet all", usage: "greet all NAME...", run }] }),
      });`;
    const facts = `commands: [{ name: "greet all", usage: "greet all NAME...", doc: "say hello" }],`;
    const cwd = folderWith({ "plugins/greeter.ts": plugin(facts), "careless/greeter.ts": plugin("") });
    const greet = [...fromSource, "greet", "all", "Ada", "Bob"];
    const greeted = await run(greet, { cwd, env: { PLUGINS_DIR: "plugins" } });
    expect(greeted).toMatchObject({ code: 0, stderr: "" });
    expect(greeted.stdout).toEndWith("Hello, Ada and Bob\n");

    const refused = await run([...fromSource, "greet", "none"], { cwd, env: { PLUGINS_DIR: "plugins" } });
    expect(refused.stderr).toContain(`there is no command "greet none"`);
    expect(refused.stderr).toMatch(/^ {2}greet all NAME\.\.\. +say hello$/m);

    const careless = await run([...fromSource, "migrate"], { cwd, env: { PLUGINS_DIR: "careless" } });
    expect(careless.stderr).toContain(`plugin "greeter" does not declare its command "greet all"`);
  });

  test.each(["version", "--version", "-v", "serve --version"])("%p tells the version", async (words) => {
    const cwd = folderWith();
    const told = await run([...fromSource, ...words.split(" ")], { cwd });
    expect(told.stdout).toMatch(/^corestead \d+\.\d+\.\d+ /);
    expect(told.code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("help names every command, those of plugins included", async () => {
    const { stdout } = await run([...fromSource, "help"], { cwd: folderWith() });
    const named = plugins.flatMap(({ commands }) => commands ?? []).map(({ usage }) => usage);
    for (const usage of ["serve", "restore FILE [--force]", ...named]) expect(stdout).toContain(`\n  ${usage}`);
    expect(named.length).toBeGreaterThan(2);
  });
});

describe("SIGTERM", () => {
  const cwd = folderWith({ "plugins/probe.ts": probe });
  const start = (settings = {}) =>
    startServer(fromSource, { cwd, env: { ...admin, PLUGINS_DIR: "plugins", ...settings } });
  const processOf = async (server: ServerProcess) => (await server.request("GET", "/probe/process")).json;

  test("is told by /ready while requests are served, then finishes one that runs, takes no further one, and ends", async () => {
    const server = await start({ DRAIN_SECONDS: "300" });
    const ready = () => server.request("GET", "/ready", undefined, { token: null });
    expect((await ready()).json).toEqual({
      status: "ready",
      role: "primary",
      writable: true,
      listening: true,
      disk: "ok",
    });
    const answer = server.request("GET", "/probe/wait");
    await eventually(async () => (await processOf(server)).waiting === 1);
    const exited = server.stop();
    const refused = await eventually(async () => {
      const asked = await ready();
      return asked.status === 503 ? asked : undefined;
    });
    expect(refused.json).toEqual({ error: "the server is stopping", role: "draining" });
    const served = await server.request("GET", "/account/me.json", undefined, { token: adminToken });
    expect([served.status, served.headers.get("connection")]).toEqual([200, "close"]);
    void server.stop(); // a second signal ends the time to drain
    expect((await answer).json).toBe("finished");
    expect(await exited).toBe(0);
    expect(server.request("GET", "/health")).rejects.toThrow();
    expect(server.stderr()).toBe("");
  });

  test("ends within ten seconds, whatever a request and a job do", async () => {
    const server = await start();
    const answer: Promise<Answer | "cut off"> = server.request("GET", "/probe/hang").catch(() => "cut off");
    await server.request("POST", "/probe/endless");
    await eventually(async () => {
      const { waiting, endlessRuns } = await processOf(server);
      return waiting === 1 && endlessRuns === 1;
    });
    const asked = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000); // the one time that behaviour B.2 promises
    expect(await answer).toBe("cut off");
  });

  test("during the start ends it too", async () => {
    const child = Bun.spawn(fromSource, {
      cwd,
      env: { PATH: process.env["PATH"], PORT: "0" },
      stdout: "pipe",
      stderr: "pipe",
    });
    await eventually(() => existsSync(join(cwd, "data/postgres/postmaster.pid")));
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(existsSync(join(cwd, "data/postgres/postmaster.pid"))).toBe(false);
  });
});

describe("WORKERS=2", () => {
  const cwd = folderWith({ "plugins/probe.ts": probe });
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer(fromSource, { cwd, env: { ...admin, PLUGINS_DIR: "plugins", WORKERS: "2" } });
  });

  const get = (path: string, token = adminToken) => server.request("GET", path, undefined, { ...newConnection, token });

  /** Sends requests on new connections until this many processes have answered. */
  const processes = async (count: number): Promise<Set<number>> => {
    const pids = new Set<number>();
    await eventually(async () => {
      const answer = await get("/probe/process").catch(() => undefined); // its process may just have been killed
      if (answer) pids.add(answer.json.pid);
      return pids.size === count;
    }, `${count} processes`);
    return pids;
  };

  test("two processes serve on the one port", async () => {
    const pids = await processes(2);
    expect(pids).not.toContain(server.pid);
    expect(server.stdout()).toMatch(/with 2 processes/);
  });

  test("a token that is switched off through one is refused by both at once", async () => {
    for (let round = 0; round < 5; round++) {
      const made = await server.request(
        "POST",
        "/account/api_tokens.json",
        { api_token: { name: `worker ${round}` } },
        { token: adminToken },
      );
      const { id, token } = made.json;
      const all = () => Promise.all(Array.from({ length: 24 }, () => get("/account/me.json", token)));
      expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set([200]));
      const off = { api_token: { active: false } };
      expect(
        (await server.request("PATCH", `/account/api_tokens/${id}.json`, off, { ...newConnection, token: adminToken }))
          .status,
      ).toBe(200);
      expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set([401]));
    }
  });

  test("rate limits are counted over both", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => get("/probe/limited")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
  });

  test("a worker that is killed is started again", async () => {
    const [killed = 0] = await processes(2);
    process.kill(killed, "SIGKILL");
    await eventually(() => !isAlive(killed));
    expect(await processes(2)).not.toContain(killed);
    expect(server.stderr()).toContain("a server process ended and is restarted");
  });

  test("a worker that hangs is replaced", async () => {
    const [hung = 0] = await processes(2);
    process.kill(hung, "SIGSTOP");
    while (isAlive(hung)) await Bun.sleep(20);
    expect(await processes(2)).not.toContain(hung);
    expect(server.stderr()).toContain("a server process does not respond and is killed");
  });

  test("kill -9 of the supervisor ends its workers and PostgreSQL, and another start works", async () => {
    const pids = [...(await processes(2)), postgresPid(cwd)];
    server.kill("SIGKILL");
    await eventually(() => !pids.some(isAlive), "the end of all");
    const { port } = new URL(server.origin);
    server = await startServer(fromSource, {
      cwd,
      env: { ...admin, PLUGINS_DIR: "plugins", WORKERS: "2", PORT: port },
    });
    expect((await get("/account/me.json")).status).toBe(200);
  });

  test("SIGTERM finishes requests in both and ends all", async () => {
    const pids = [...(await processes(2)), postgresPid(cwd)];
    const answers = Array.from({ length: 12 }, () => get("/probe/wait"));
    const waiting = new Map<number, number>();
    await eventually(async () => {
      const { pid, waiting: count } = (await get("/probe/process")).json;
      waiting.set(pid, count);
      return [...waiting.values()].reduce((sum, each) => sum + each, 0) === answers.length;
    });
    expect(await server.stop()).toBe(0);
    expect((await Promise.all(answers)).map(({ json }) => json)).toEqual(answers.map(() => "finished"));
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

test("serve --watch serves a plugin as it is now, and goes on with the old one while the new one does not start", async () => {
  const said = (text: string) => `
    import { definePlugin, ok, route } from "platform";
    export default definePlugin({ name: "greeter", setup: () => ({ routes: [
      route("GET", "/greeting", { summary: "x", access: { open: "a test" }, responses: { 200: {} } }, () => ok({ said: ${text} })),
    ] }) });`;
  const cwd = folderWith({ "plugins/greeter.ts": said(`"one"`) });
  const env = { ...admin, PLUGINS_DIR: "plugins" };
  const server = await startServer([...fromSource, "serve", "--watch"], { cwd, env });
  const greeting = async () => (await server.request("GET", "/greeting")).json?.said;
  expect(await greeting()).toBe("one");

  writeFileSync(join(cwd, "plugins/greeter.ts"), said("oops("));
  await eventually(() => server.stderr().includes("the earlier version is still served"), "the refusal");
  expect(await greeting()).toBe("one");

  writeFileSync(join(cwd, "plugins/greeter.ts"), said(`"two"`));
  await eventually(async () => (await greeting()) === "two", "the new plugin");
  expect(await server.stop()).toBe(0);
});

test("serve --watch serves a page of the Studio as its files are now, each time at another address", async () => {
  const cwd = folderWith({
    "plugins/greeter/plugin.ts": `
      import { definePlugin } from "platform";
      const module = new URL("./studio/greeting.page.ts", import.meta.url);
      export default definePlugin({ name: "greeter", studio: [{ path: "greeter/hello", title: { en: "Hello" }, module }], setup: () => ({}) });`,
    "plugins/greeter/studio/greeting.page.ts": `
      import { words } from "./words.ts";
      export const mount = (element: HTMLElement): void => element.append(words);`,
    "plugins/greeter/studio/words.ts": `export const words: string = "one";`,
  });
  const words = join(cwd, "plugins/greeter/studio/words.ts");
  const server = await startServer([...fromSource, "serve", "--watch"], {
    cwd,
    env: { ...admin, PLUGINS_DIR: "plugins" },
  });
  const get = (path: string) => server.request("GET", path, undefined, { token: admin.CORE_ADMIN_TOKEN });
  const address = async (): Promise<string> => (await get("/studio/-/pages.json")).json?.[0]?.module ?? "";
  const first = await address();
  expect((await get(first)).text).toContain(`"one"`);

  writeFileSync(words, "export const words: = 2;");
  await eventually(() => server.stderr().includes("the earlier version is still served"), "the refusal");
  expect(server.stderr()).toContain('plugin "greeter": the page greeter/hello does not load: Unexpected =');
  expect(server.stderr()).toContain("words.ts:1:21)");
  expect(await address()).toBe(first);

  writeFileSync(words, `export const words: string = "two";`);
  await eventually(async () => ![first, ""].includes(await address()), "the new address");
  expect((await get(await address())).text).toContain(`"two"`);
  expect((await get(first)).status).toBe(404);
  expect(await server.stop()).toBe(0);
});

test("serve --watch without PLUGINS_DIR is refused", async () => {
  const refused = await run([...fromSource, "serve", "--watch"], { cwd: folderWith() });
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("--watch follows the plugins of PLUGINS_DIR, which is not set");
});

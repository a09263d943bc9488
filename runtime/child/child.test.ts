/** A plugin's function in a guarded process: what goes wrong inside of it stays there. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createChild, type Child, type ChildOptions } from "./child.ts";
import { ChildFault, processorsOf, upperHalf } from "./child-process.ts";
import { createLog } from "../system/log.ts";

setDefaultTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), "corestead-children-"));
mkdirSync(join(folder, "odd"));
writeFileSync(
  join(folder, "odd/plugin.ts"),
  `import { definePlugin } from "platform";
  const children = {
    work: () => import("./work.ts"),
    slow: () => new Promise(() => setInterval(() => {}, 1000)),
    broken: () => import("./missing.ts"),
  };
  export default definePlugin({ name: "odd", children, setup: () => ({}) });`,
);
writeFileSync(
  join(folder, "odd/work.ts"),
  `import { existsSync, readdirSync } from "node:fs";
  let runs = 0;
  export default async function work(input: any): Promise<unknown> {
    runs++;
    if (input.do === "echo") return { runs, pid: process.pid, value: input.value };
    if (input.do === "look") return { env: process.env, cwd: process.cwd(), files: readdirSync(".", { recursive: true }) };
    if (input.do === "throw") throw new Error("odd");
    if (input.do === "exit") process.exit(3);
    if (input.do === "print") { console.log("not an answer"); return "printed"; }
    if (input.do === "large") return "x".repeat(input.bytes);
    if (input.do === "wait") { while (!existsSync(input.file)) await Bun.sleep(5); return process.pid; }
    if (input.do === "spawn") {
      const other = Bun.spawn(["sleep", "1000"]);
      await Bun.write(input.file, String(other.pid));
    }
    if (input.do === "eat") { const held = []; for (;;) held.push(new Uint8Array(10_000_000).fill(1)); }
    for (;;);
  }`,
);

const children: Child[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await child.stop();
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(options: ChildOptions = {}, name = "work"): Child {
  const env = { PLUGINS_DIR: folder };
  const log = createLog("error");
  const setup = { plugin: "odd", name, log, programs: async () => ({}) };
  const child = createChild({ ...setup, options: { processes: 1, ...options, env } });
  children.push(child);
  return child;
}

/** Of a run that never ends by itself. A machine that starves it says so, and then it is tried again. */
async function endOf(child: Child, input: unknown): Promise<string> {
  for (;;) {
    const reason = await reasonOf(child.run(input));
    if (reason !== "busy") return reason;
  }
}

async function reasonOf(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ChildFault ? error.reason : `no fault: ${String(error)}`;
}

// The function of the test above answers with these.
const echo = async (child: Child, value: unknown = 1) =>
  (await child.run({ do: "echo", value })) as { runs: number; pid: number; value: unknown };

describe("a child", () => {
  test("answers, run after run, from one process", async () => {
    const child = start();
    const first = await echo(child, { text: "ą\u2028\0\ud800", deep: [[[1]]] });
    expect(first).toMatchObject({ runs: 1, value: { text: "ą\u2028\0\ud800", deep: [[[1]]] } });
    const many = await Promise.all(Array.from({ length: 20 }, (_, at) => echo(child, at)));
    expect(many.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, (_, at) => at));
    expect(new Set(many.map(({ pid }) => pid))).toEqual(new Set([first.pid]));
    const { value } = await echo(child, JSON.rawJSON("7615917337495251231"));
    expect(JSON.stringify(value)).toBe("7615917337495251231");
  });

  test("has no variables but its own, and an empty folder", async () => {
    process.env["SECRET_KEY"] ??= "a secret of the server";
    const { env, cwd, files } = (await start().run({ do: "look" })) as { env: object; cwd: string; files: string[] };
    const known = /^(PATH|PWD|OLDPWD|SHLVL|_|DO_NOT_TRACK|PLUGINS_DIR|BUN_\w+)$/;
    expect(Object.keys(env).filter((name) => !known.test(name))).toEqual([]);
    expect(cwd).toStartWith(tmpdir());
    expect(files).toEqual([]);
  });

  test("may print: that is no answer", async () => {
    expect(await start().run({ do: "print" })).toBe("printed");
  });

  test.each([
    ["runs for ever", { do: "loop" }, "timeout"],
    ["throws", { do: "throw" }, "crash"],
    ["exits", { do: "exit" }, "crash"],
    ["takes all memory", { do: "eat" }, "crash"],
    ["answers too much", { do: "large", bytes: 200_000 }, "result-too-large"],
  ])("that %s is replaced, and the next run works", async (_what, input, reason) => {
    // Only the run that never ends may reach its time limit, however slow the machine is.
    const child = start({
      timeLimitMs: reason === "timeout" ? 1_500 : 60_000,
      memoryBytes: 700_000_000,
      maxResultBytes: 100_000,
    });
    expect(await endOf(child, input)).toBe(reason);
    expect(await echo(child)).toMatchObject({ runs: 1 });
  });

  test("that the machine gives no processor time is busy: the run has not taken too long by its own fault", async () => {
    const child = start({ timeLimitMs: 1_000 });
    const { pid } = await echo(child);
    process.kill(pid, "SIGSTOP");
    expect(await reasonOf(child.run({ do: "loop" }))).toBe("busy");
    await gone(pid);
    expect(await endOf(child, { do: "loop" })).toBe("timeout");
  });

  test.each([
    ["does not start in time", "slow", { startLimitMs: 300 }],
    ["breaks before it has read any input", "broken", {}],
    ["does not exist", "other", {}],
  ])("that %s is no fault of the run", async (_what, name, options) => {
    const child = start(options, name);
    expect(await reasonOf(child.run({ do: "echo" }))).toBe("busy");
    expect(await reasonOf(child.run({ do: "echo" }))).toBe("busy");
  });

  test("that worked before and then breaks is given a second try in a new process", async () => {
    const child = start();
    const { pid } = await echo(child);
    process.kill(pid, "SIGKILL");
    const next = await echo(child);
    expect(next.runs).toBe(1);
    expect(next.pid).not.toBe(pid);
  });

  test("is killed with whatever it started", async () => {
    const child = start({ timeLimitMs: 1_000 });
    const file = join(folder, "pid");
    expect(await endOf(child, { do: "spawn", file })).toBe("timeout");
    await gone(Number(readFileSync(file, "utf8")));
  });

  test("is replaced after so many runs, before it is worn out", async () => {
    const child = start({ maxRuns: 3 });
    const runs: number[] = [];
    for (let at = 0; at < 7; at++) runs.push((await echo(child)).runs);
    expect(runs).toEqual([1, 2, 3, 1, 2, 3, 1]);
  });

  test("is stopped when it has nothing to do, and starts again", async () => {
    const child = start({ idleMs: 50 });
    const { pid } = await echo(child);
    await gone(pid);
    expect((await echo(child)).runs).toBe(1);
  });

  test("has no process before it is asked", async () => {
    while (readChildren().length > 0) await Bun.sleep(10); // those of the tests before
    const child = start();
    expect(readChildren()).toEqual([]);
    const { pid } = await echo(child);
    expect(readChildren()).toEqual([pid]);
  });

  test("gets a second process when one takes long and others wait, which ends first when both are idle", async () => {
    const child = start({ processes: 2, longRunMs: 50, timeLimitMs: 30_000, spareIdleMs: 300, idleMs: 1e9 });
    const file = join(folder, "go");
    const long = child.run({ do: "wait", file });
    const others = await Promise.all([echo(child), echo(child)]);
    expect(new Set(others.map(({ pid }) => pid)).size).toBe(1);
    writeFileSync(file, "");
    expect(await long).not.toBe(others[0]?.pid);
    expect(readChildren()).toHaveLength(2);
    while (readChildren().length > 1) await Bun.sleep(10);
    expect(readChildren()).toEqual([(await echo(child)).pid]);
  });

  test("yields its processor to the server, whether Linux compares processes or sessions", async () => {
    const own = getPriority();
    if (process.getuid?.() === 0) setPriority(0); // as scripts/test is nice itself
    for (;;) {
      const child = start();
      const { pid } = await echo(child);
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      expect(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]).toBe("10");
      // A container's root may write there only ten times a second, all processes of the machine together, so then
      // another child is asked.
      const session = tryRead(`/proc/${pid}/autogroup`);
      if (process.getuid?.() !== 0 || session === "" || session.endsWith(" nice 10\n")) break;
      await child.stop();
    }
    setPriority(own);
  });

  test("is the equal of a server that is nice itself: it would starve beside it", async () => {
    const own = getPriority();
    setPriority(Math.max(own, 12));
    const { pid } = await echo(start());
    expect(getPriority(pid)).toBe(Math.max(own, 12));
    expect(tryRead(`/proc/${pid}/autogroup`)).not.toEndWith(" nice 10\n");
    if (process.getuid?.() === 0) setPriority(own);
  });

  test("leaves half of the processors to the server", async () => {
    const { pid } = await echo(start());
    const own = processorsOf("self");
    const half = upperHalf(own);
    const isLimited = Bun.which("taskset") !== null && half.length > 0;
    expect(processorsOf(pid)).toEqual(isLimited ? half : own);
  });

  test("has no second process for runs that are short", async () => {
    const child = start({ processes: 2, longRunMs: 30_000 });
    const many = await Promise.all(Array.from({ length: 20 }, () => echo(child)));
    expect(new Set(many.map(({ pid }) => pid)).size).toBe(1);
  });

  test("whose replacement is never asked ends it too", async () => {
    const child = start({ idleMs: 300 });
    expect(await reasonOf(child.run({ do: "throw" }))).toBe("crash");
    while (readChildren().length === 0) await Bun.sleep(10);
    while (readChildren().length > 0) await Bun.sleep(10);
  });

  test("that breaks while it is given a large input says so, and the next run works", async () => {
    const child = start();
    const { pid } = await echo(child);
    process.kill(pid, "SIGSTOP");
    const large = reasonOf(child.run({ do: "exit", value: "x".repeat(5_000_000) }));
    process.kill(pid, "SIGKILL");
    expect(await large).toBe("crash");
    expect((await echo(child)).runs).toBe(1);
  });

  test("refuses who has waited too long", async () => {
    const child = start({ maxWaitMs: 300, timeLimitMs: 60_000 });
    const file = join(folder, "waited");
    const running = child.run({ do: "wait", file });
    expect(await reasonOf(child.run({ do: "echo" }))).toBe("busy");
    writeFileSync(file, "");
    await running;
    expect((await echo(child)).runs).toBe(2);
  });

  test("takes only so many that wait", async () => {
    const child = start({ maxQueued: 2, timeLimitMs: 60_000 });
    const file = join(folder, "queued");
    const running = child.run({ do: "wait", file });
    const waiting = [echo(child), echo(child)];
    expect(await reasonOf(child.run({ do: "echo" }))).toBe("busy");
    writeFileSync(file, "");
    await running;
    expect((await Promise.all(waiting)).map(({ runs }) => runs)).toEqual([2, 3]);
  });

  test("ends with `stop`, which refuses what waits", async () => {
    const child = start();
    const { pid } = await echo(child);
    const running = reasonOf(child.run({ do: "loop" }));
    const waiting = reasonOf(child.run({ do: "echo" }));
    await child.stop();
    expect([await running, await waiting]).toEqual(["stopped", "stopped"]);
    expect(await reasonOf(child.run({ do: "echo" }))).toBe("stopped");
    await gone(pid);
  });
});

test("kill -9 of the server leaves no process behind", async () => {
  const server = `
    import { createChild } from ${JSON.stringify(join(import.meta.dir, "child.ts"))};
    import { createLog } from ${JSON.stringify(join(import.meta.dir, "../system/log.ts"))};
    const child = createChild({ plugin: "odd", name: "work", log: createLog("error"), programs: async () => ({}),
      options: { env: { PLUGINS_DIR: ${JSON.stringify(folder)} } } });
    console.log((await child.run({ do: "echo" })).pid);
    await child.run({ do: "loop" });`;
  const script = join(folder, "_server.ts");
  writeFileSync(script, server);
  const parent = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "inherit" });
  const { value } = await parent.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  expect(isRunning(pid)).toBe(true);
  parent.kill("SIGKILL");
  await gone(pid);
});

async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await Bun.sleep(10);
}

/** A process that nobody has asked for its end yet has ended all the same. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The processes of this file's children. */
function readChildren(): number[] {
  const own = readdirSync("/proc").filter((pid) => {
    const isOurs = tryRead(`/proc/${pid}/status`).includes(`PPid:\t${process.pid}\n`);
    return isOurs && tryRead(`/proc/${pid}/cmdline`).includes("child\0odd\0work\0");
  });
  return own.map(Number).filter(isRunning);
}

function tryRead(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

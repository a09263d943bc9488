import { expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGreeting } from "../operations/command/run.ts";
import { createLog, type Fields, type Level } from "./log.ts";

const noon = new Date(2026, 0, 31, 12, 5, 9);

/** What a log writes of one line. */
function logged(format: "json" | "text", level: Level, message: string, fields?: Fields): string {
  const said: string[] = [];
  const log = createLog("debug", (text) => said.push(text), format);
  log[level](message, fields);
  log.flush();
  return said.join("");
}

test.each<[Level, string, Fields | undefined, RegExp]>([
  ["info", "migrating", { plugin: "runtime" }, /^\d\d:\d\d:\d\d migrating plugin=runtime\n$/],
  ["warn", "slow", { ms: 12.5, of: "two words", none: undefined }, /^\S+ WARN slow ms=12\.5 of="two words"\n$/],
  ["debug", "odd", { list: [1, "a"], big: 2n ** 60n, nil: null }, /^\S+ DEBUG odd list=\[1,"a"\] big=\d+ nil=null\n$/],
  ["info", "line", { text: "a\nb\u001b[2J" }, /^\S+ line text="a\\nb\\u001b\[2J"\n$/],
  [
    "error",
    "it failed",
    { job: "x", error: new Error("outer", { cause: new Error("inner") }) },
    /^\S+ ERROR it failed job=x\n  Error: outer\n +at .*log\.test\.ts[^]*\n  because\n  Error: inner\n +at/,
  ],
])("a line for people: %s %s", (level, message, fields, expected) => {
  expect(logged("text", level, message, fields)).toMatch(expected);
});

test("JSON stays one object a line", () => {
  const line = logged("json", "warn", "slow", { ms: 1, error: new Error("why"), at: noon });
  expect(line.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(line)).toMatchObject({ level: "warn", message: "slow", ms: 1, error: { message: "why" } });
});

test("the journal of systemd gets the priority of each line, and nobody else does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corestead-log-"));
  const file = join(folder, "journal");
  const script = `
    import { flushLogs, processLog } from ${JSON.stringify(join(import.meta.dir, "log.ts"))};
    const log = processLog({ logLevel: "debug", logFormat: "json" });
    for (const level of ["debug", "info", "warn", "error"]) log[level]("said");
    flushLogs();`;
  const beginnings = async (stream: (place: string) => string) => {
    writeFileSync(file, "");
    const { dev, ino } = statSync(file);
    const env = { ...process.env, JOURNAL_STREAM: stream(`${dev}:${ino}`) };
    const stderr = openSync(file, "a");
    await Bun.spawn([process.execPath, "-e", script], { env, stderr }).exited;
    closeSync(stderr);
    return readFileSync(file, "utf8").match(/^[^{]*(?=\{)/gm);
  };
  expect(await beginnings((place) => place)).toEqual(["<7>", "<6>", "<4>", "<3>"]);
  expect(await beginnings((place) => `${place}1`)).toEqual(["", "", "", ""]);
  rmSync(folder, { recursive: true });
});

test("what a slow reader has not taken yet is not lost at the end", async () => {
  const script = `
    import { processLog, flushLogs } from ${JSON.stringify(join(import.meta.dir, "log.ts"))};
    import { written } from ${JSON.stringify(join(import.meta.dir, "output.ts"))};
    const log = processLog({ logLevel: "info", logFormat: "auto" });
    for (let n = 0; n < 3000; n++) log.info("a line of some length, so that the pipe is full long before all are written", { n });
    flushLogs();
    process.stdout.write("logged");
    await written();
    process.exit(3);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  await child.stdout.getReader().read(); // only now anybody reads the log
  const lines = (await new Response(child.stderr).text()).trim().split("\n");
  expect(lines).toHaveLength(3000);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ n: 2999 });
  expect(await child.exited).toBe(3);
});

test("on a terminal the credentials come after the address, also where the start fails; for a program before it", () => {
  const said = (isTerminal: boolean, isReady: boolean) => {
    let text = "";
    const greeting = createGreeting(isTerminal, (more) => (text += more));
    greeting.announce(["password: x"]);
    if (isReady) greeting.ready("serves on y");
    else greeting.failed();
    return text;
  };
  expect(said(false, true)).toBe("password: x\nserves on y\n");
  expect(said(true, true)).toBe("serves on y\n\npassword: x\nThis is shown only once.\n\n");
  expect(said(false, false)).toBe("password: x\n");
  expect(said(true, false)).toBe("\npassword: x\nThis is shown only once.\n\n");
});

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOnMachine, type CommandResult } from "../service/steps.ts";
import { checkFile } from "./candidate.ts";
import { upgrade, type Upgrade } from "./upgrade.ts";

/** Programs that are no Corestead but answer as one, on a service manager that is a few variables. */
const folders: string[] = [];
afterAll(async () => {
  await server.stop(true);
  for (const folder of folders) rmSync(folder, { recursive: true });
});
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "corestead-upgrade-test-"));
  folders.push(folder);
  return folder;
};

let root: string;
let current: string;
let log: string;
let said: string[];
/** Which executable the service runs, by its text; undefined: it is stopped. */
let serving: string | undefined;
/** Whether the service is installed. */
let installed: boolean;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response("", { status: serving !== undefined && !serving.includes("# deaf") ? 200 : 503 }),
});

/** A program that notes how it was called. Its comments say how it behaves as a service. */
function program(version: string, behaviour = "", commands = ""): string {
  return `#!/bin/sh
${behaviour}
case "$1" in --version) echo "corestead ${version} (platform 1.0.0, Bun 1.4.5, linux-x64)"; exit 0;; esac
echo "${version} $* in $(basename "$PWD") PORT=$PORT" >> ${log}
${commands}
[ "$1" = backup ] && touch "$2"
exit 0
`;
}

beforeEach(() => {
  root = newFolder();
  const state = join(root, "var/lib/corestead");
  mkdirSync(join(state, "data/postgres"), { recursive: true });
  writeFileSync(join(state, ".env"), `PORT=${server.port}\n`);
  [current, log, said, installed] = [join(root, "corestead"), join(root, "log"), [], true];
  serving = program("1.0.0");
  writeFileSync(current, serving, { mode: 0o755 });
});

const run: Upgrade["run"] = async (words, place) => {
  if (words[0] !== "systemctl") return runOnMachine(words, place);
  const [, action] = words;
  writeFileSync(log, `systemctl ${action}\n`, { flag: action === "show" ? "r+" : "a" });
  if (action === "stop") serving = undefined;
  if (action === "start") serving = readFileSync(current, "utf8");
  return action === "show" ? shown() : { code: 0, output: "" };
};

function shown(): CommandResult {
  const failed = serving?.includes("# dies") === true;
  const active = serving === undefined ? "inactive" : failed ? "activating" : "active";
  const sub = failed ? "auto-restart" : "running";
  const exec = `{ path=${current} ; argv[]=${current} serve }`;
  return {
    code: 0,
    output: `LoadState=${installed ? "loaded" : "not-found"}\nActiveState=${active}\nSubState=${sub}\nUnitFileState=enabled\nExecStart=${exec}\nWorkingDirectory=/var/lib/corestead\nUser=`,
  };
}

function next(text: string): string {
  const file = join(newFolder(), "corestead-next");
  writeFileSync(file, text, { mode: 0o755 });
  return file;
}

const asked = (file: string, change: Partial<Upgrade> = {}): Upgrade => ({
  root,
  run,
  file,
  keyFile: "",
  allowDowngrade: false,
  backupFile: "",
  current,
  version: "1.0.0",
  folder: join(root, "var/lib/corestead"),
  env: { PORT: `${server.port}` },
  say: (line) => void said.push(line),
  now: new Date("2026-01-31T10:00:00.000Z"),
  readyWithinMs: 300,
  ...change,
});

const calls = () =>
  readFileSync(log, "utf8")
    .replaceAll(root, "")
    .trim()
    .split("\n")
    .filter((line) => !line.includes("show"));
const backupName = "before-upgrade-of-1.0.0-20260131T100000Z.backup";

describe("an upgrade", () => {
  beforeEach(() => writeFileSync(join(root, "log"), ""));

  test("stops the server, backs up with the old version, swaps, and starts the new one", async () => {
    process.env["PORT"] = "1";
    expect(await upgrade(asked(next(program("1.1.0"))))).toBe(0);
    delete process.env["PORT"];
    expect(calls()).toEqual([
      "systemctl stop",
      // The caller's own settings are none of the service's.
      `1.0.0 backup /var/lib/corestead/${backupName} in corestead PORT=`,
      "systemctl start",
    ]);
    expect(serving).toBe(program("1.1.0"));
    expect(readFileSync(`${current}.old`, "utf8")).toBe(program("1.0.0"));
    expect(statSync(current).mode & 0o777).toBe(0o755);
    expect(said.at(-1)).toBe(`1.1.0 serves; 1.0.0 is in ${current}.old`);
    expect(readdirSync(root)).not.toContain("corestead.new");
  });

  test.each([["# dies"], ["# deaf"]])("goes back by itself if the new version %s", async (behaviour) => {
    expect(await upgrade(asked(next(program("1.1.0", behaviour))))).toBe(1);
    expect(serving).toBe(program("1.0.0"));
    expect(readFileSync(current, "utf8")).toBe(program("1.0.0"));
    expect(calls().slice(-5)).toEqual([
      "systemctl start",
      "systemctl stop",
      "systemctl reset-failed",
      "1.0.0 migrate in corestead PORT=",
      "systemctl start",
    ]);
    expect(said.at(-1)).toBe("1.0.0 serves again");
  });

  const migrated = `[ "$1" = migrate ] && ! [ -e "$PWD/restored" ] && { echo "the database has migration x/002, which this version does not know"; exit 1; }
[ "$1" = restore ] && touch "$PWD/restored"`;

  test("restores the backup if the new version had migrated the database", async () => {
    writeFileSync(current, program("1.0.0", "", migrated), { mode: 0o755 });
    expect(await upgrade(asked(next(program("1.1.0", "# dies"))))).toBe(1);
    expect(calls()).toContain(`1.0.0 restore /var/lib/corestead/${backupName} --force in corestead PORT=`);
    expect(calls()).toContain("1.0.0 adopt in corestead PORT=");
    expect(serving).toBe(program("1.0.0", "", migrated));
    // What was there is kept.
    expect(readdirSync(join(root, "var/lib/corestead/data"))).toEqual(["postgres.failed-1769853600000"]);
  });

  test("says how to restore it into a database that is not its own", async () => {
    writeFileSync(join(root, "var/lib/corestead/.env"), `PORT=${server.port}\nDATABASE_URL=postgres://db/core\n`);
    writeFileSync(current, program("1.0.0", "", migrated), { mode: 0o755 });
    const failing = upgrade(asked(next(program("1.1.0", "# dies"))));
    expect(failing).rejects.toThrow(/drop schema public cascade.*corestead restore \S+\.backup/);
    await failing.catch(() => {});
    expect(serving).toBeUndefined();
  });

  test("that was killed once the new version was in place, and is repeated, keeps the version before", async () => {
    expect(await upgrade(asked(next(program("1.1.0"))))).toBe(0);
    [installed, serving] = [false, undefined];
    expect(await upgrade(asked(next(program("1.1.0")), { version: "1.1.0" }))).toBe(0);
    expect(readFileSync(`${current}.old`, "utf8")).toBe(program("1.0.0"));
    expect(said.at(-1)).toContain(`the version before is in ${current}.old`);
    rmSync(`${current}.old`);
    expect(await upgrade(asked(next(program("1.1.0")), { version: "1.1.0" }))).toBe(0);
    expect(readFileSync(`${current}.old`, "utf8")).toBe(program("1.1.0"));
  });

  test("changes nothing if the backup fails", async () => {
    const broken = program("1.0.0", "", `[ "$1" = backup ] && { echo "the disk is full"; exit 1; }`);
    writeFileSync(current, broken, { mode: 0o755 });
    const failing = upgrade(asked(next(program("1.1.0"))));
    expect(failing).rejects.toThrow("the backup failed, and nothing was changed: the disk is full");
    await failing.catch(() => {});
    expect([serving, readFileSync(current, "utf8"), existsSync(`${current}.old`)]).toEqual([broken, broken, false]);
  });

  test("without a service tries the new version out by a migration", async () => {
    [installed, serving] = [false, undefined];
    const file = join(root, "mine.backup");
    expect(await upgrade(asked(next(program("1.1.0")), { backupFile: file }))).toBe(0);
    expect(existsSync(file)).toBe(true);
    expect(calls()).toEqual([
      expect.stringContaining("1.0.0 backup"),
      expect.stringContaining("1.1.0 migrate in corestead"),
    ]);
    const failing = next(program("1.2.0", "", `[ "$1" = migrate ] && { echo torn; exit 1; }`));
    expect(await upgrade(asked(failing, { version: "1.1.0" }))).toBe(1);
    expect(readFileSync(current, "utf8")).toBe(program("1.1.0"));
    serving = "somebody's";
    expect(upgrade(asked(next(program("1.3.0"))))).rejects.toThrow("is no service of systemd: stop it first");
  });

  test.each<[string, () => Partial<Upgrade> & { file?: string }, string]>([
    ["no file", () => ({ file: join(root, "nothing") }), "there is no file"],
    ["an older version", () => ({ file: next(program("0.9.9")) }), "is older than 1.0.0"],
    ["a draft of this version", () => ({ file: next(program("1.0.0-beta.1")) }), "is older than 1.0.0"],
    ["another program", () => ({ file: next("#!/bin/sh\necho tea 1.0.0\n") }), "is no Corestead"],
    ["a text", () => ({ file: next("tea") }), "does not run on this machine"],
    ["the Debian package", () => ({ current: "/usr/bin/corestead" }), "apt-get install"],
    ["another executable than the service's", () => ({ current: join(root, "another") }), "call that one"],
    ["another upgrade", () => (writeFileSync(`${current}.new`, ""), {}), "another upgrade is going on"],
  ])("is refused for %s, and the server goes on", async (_, given, message) => {
    mkdirSync(join(root, "var/lib/dpkg/info"), { recursive: true });
    writeFileSync(join(root, "var/lib/dpkg/info/corestead.list"), "");
    const { file = next(program("1.1.0")), ...change } = given();
    const failing = upgrade(asked(file, change));
    expect(failing).rejects.toThrow(message);
    await failing.catch(() => {});
    expect(serving).toBe(program("1.0.0"));
    expect(readFileSync(current, "utf8")).toBe(program("1.0.0"));
  });

  test("to an older version is done if it is told to, and from an archive too", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "corestead-0.9.0-linux-x64"));
    writeFileSync(join(folder, "corestead-0.9.0-linux-x64/corestead"), program("0.9.0"), { mode: 0o755 });
    const archive = join(folder, "corestead-0.9.0-linux-x64.tar.gz");
    await runOnMachine(["tar", "-czf", archive, "-C", folder, "corestead-0.9.0-linux-x64"]);
    expect(await upgrade(asked(archive, { allowDowngrade: true }))).toBe(0);
    expect(serving).toBe(program("0.9.0"));
    writeFileSync(archive, "torn");
    expect(upgrade(asked(archive))).rejects.toThrow("cannot be unpacked");
    await runOnMachine(["tar", "-czf", archive, "-C", folder, "--files-from", "/dev/null"]);
    expect(upgrade(asked(archive))).rejects.toThrow('has no executable "corestead"');
  });
});

describe("a file", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const other = generateKeyPairSync("ed25519");

  /** A file with its SHA256SUMS, signed. */
  function release() {
    const folder = newFolder();
    const [file, sums, keyFile] = ["corestead.tar.gz", "SHA256SUMS", "key.pub"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(file, "the bytes");
    const sum = new Bun.CryptoHasher("sha256").update("the bytes").digest("hex");
    const text = `${"0".repeat(64)}  another\n${sum}  corestead.tar.gz\n`;
    writeFileSync(sums, text);
    writeFileSync(`${sums}.sig`, sign(null, Buffer.from(text), privateKey));
    writeFileSync(keyFile, publicKey.export({ type: "spki", format: "pem" }));
    return { file, sums, keyFile, sum };
  }

  test("is as its checksum and its signature say", async () => {
    const { file, sums, keyFile, sum } = release();
    expect(await checkFile({ file, keyFile })).toEqual([
      `${file} is as ${sums} says`,
      `${sums} is signed with ${keyFile}`,
    ]);
    expect((await checkFile({ file, keyFile: "" }))[1]).toContain("signature was not checked");
    for (const text of [sum, `${sum}\n`, `${sum.toUpperCase()} *corestead.tar.gz\n`]) {
      writeFileSync(`${file}.sha256`, text);
      expect(await checkFile({ file, keyFile: "" })).toEqual([`${file} is as ${file}.sha256 says`]);
    }
    const alone = join(newFolder(), "corestead");
    writeFileSync(alone, "x");
    expect((await checkFile({ file: alone, keyFile: "" }))[0]).toContain("was not checked");
    expect(checkFile({ file: alone, keyFile })).rejects.toThrow("nothing beside");
  });

  test.each<[string, (made: ReturnType<typeof release>) => void, string]>([
    ["other bytes", ({ file }) => writeFileSync(file, "other bytes"), "is damaged"],
    [
      "a checksum of other bytes",
      ({ sums, sum }) =>
        writeFileSync(sums, `${sum.replace(/./, (first) => (first === "0" ? "1" : "0"))}  corestead.tar.gz\n`),
      "was not signed",
    ],
    [
      "a list that was changed",
      ({ sums }) => writeFileSync(sums, readFileSync(sums, "utf8").replace("another", "an0ther")),
      "was not signed",
    ],
    ["no line for it", ({ file }) => writeFileSync(`${file}.sha256`, "tea\n"), "says nothing about"],
    [
      "somebody else's key",
      ({ keyFile }) => writeFileSync(keyFile, other.publicKey.export({ type: "spki", format: "pem" })),
      "was not signed",
    ],
    [
      "another kind of key",
      ({ keyFile }) =>
        writeFileSync(
          keyFile,
          generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "pem" }),
        ),
      "Ed25519",
    ],
    ["no signature", ({ sums }) => rmSync(`${sums}.sig`), "nothing beside"],
  ])("is refused with %s", async (_, change, message) => {
    const made = release();
    change(made);
    expect(checkFile(made)).rejects.toThrow(message);
    chmodSync(made.file, 0o600);
  });
});

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { datagrams } from "../../../tests/fixtures/datagrams.ts";
import { notifyService, packagedUnitFile, settingsFile, settingsText, unitFile, unitText } from "./unit.ts";
import { installService, printStatus, serviceState, uninstallService, type Service } from "./service.ts";
import type { CommandResult } from "./steps.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "corestead-service-"));
  folders.push(folder);
  return folder;
};

let root: string;
let ran: string[];
let said: string[];
/** What commands answer, by their beginning. */
let answers: Record<string, CommandResult>;
beforeEach(() => {
  root = newFolder();
  [ran, said, answers] = [[], [], {}];
  for (const folder of ["run/systemd/system", "var/lib/corestead"]) mkdirSync(join(root, folder), { recursive: true });
});

function machine(change: Partial<Service> = {}): Service {
  const run: Service["run"] = async (words) => {
    const line = words.join(" ");
    ran.push(line);
    const known = Object.entries(answers).find(([beginning]) => line.startsWith(beginning));
    return known?.[1] ?? { code: line.startsWith("getent") ? 2 : 0, output: "" };
  };
  const executable = "/usr/local/bin/corestead";
  return { root, run, executable, isCompiled: true, isRoot: true, say: (line) => void said.push(line), ...change };
}

const linux = process.platform === "linux";

describe.if(linux)("the service", () => {
  test("is installed with its user, folders, settings and unit, and starts when it is asked to", async () => {
    await installService(machine(), { print: false, start: true });
    expect(ran.filter((line) => !line.startsWith("getent"))).toEqual([
      "useradd --system --user-group --home-dir /var/lib/corestead --no-create-home --shell /usr/sbin/nologin corestead",
      "install -d -o corestead -g corestead -m 0700 /var/lib/corestead /var/backups/corestead",
      `chown root:corestead ${settingsFile}`,
      "chown --no-dereference corestead:corestead /var/lib/corestead/.env",
      "systemctl daemon-reload",
      "systemctl enable --now corestead.service",
    ]);
    expect(readFileSync(join(root, unitFile), "utf8")).toContain("\nExecStart=/usr/local/bin/corestead serve\n");
    expect(readFileSync(join(root, settingsFile), "utf8")).toBe(settingsText);
    expect(statSync(join(root, settingsFile)).mode & 0o777).toBe(0o640);
    expect(readlinkSync(join(root, "var/lib/corestead/.env"))).toBe(settingsFile);
    expect(said.at(-1)).toContain("journalctl -u corestead");
  });

  test("is installed again over what people have written into its settings", async () => {
    answers["getent"] = { code: 0, output: "corestead:x:999:" };
    mkdirSync(join(root, "etc/corestead"), { recursive: true });
    writeFileSync(join(root, settingsFile), "BASE_URL=https://core.example.com\n");
    await installService(machine(), { print: false });
    expect(readFileSync(join(root, settingsFile), "utf8")).toBe("BASE_URL=https://core.example.com\n");
    expect(ran.some((line) => line.startsWith("useradd"))).toBe(false);
    expect(ran.at(-1)).toBe("systemctl enable corestead.service");
  });

  test("takes an executable from a home folder with it", async () => {
    const executable = join(newFolder(), "corestead");
    writeFileSync(executable, "new");
    mkdirSync(join(root, "usr/local/bin"), { recursive: true });
    writeFileSync(join(root, "usr/local/bin/corestead"), "old");
    await installService(machine({ executable }), { print: false });
    const installed = join(root, "usr/local/bin/corestead");
    expect([readFileSync(installed, "utf8"), statSync(installed).mode & 0o777]).toEqual(["new", 0o755]);
  });

  test("is only described with --print, also without rights and without systemd", async () => {
    rmSync(join(root, "run"), { recursive: true });
    const stranger = machine({ isRoot: false, isCompiled: false, executable: "/opt/bun/bin/bun" });
    await installService(stranger, { print: true });
    await uninstallService(stranger, { print: true });
    expect(ran).toEqual([]);
    expect(existsSync(join(root, "etc"))).toBe(false);
    expect(said).toContain("# write /etc/systemd/system/corestead.service (0644)");
    expect(said).toContain("    NoNewPrivileges=yes");
    expect(said).toContain("# remove /etc/systemd/system/corestead.service");
  });

  test("stops at the step that fails, and says which", async () => {
    answers["install -d"] = { code: 1, output: "no such user" };
    expect(installService(machine(), { print: false })).rejects.toThrow("failed (1): no such user");
    expect(existsSync(join(root, unitFile))).toBe(false);
  });

  test("is removed without the data", async () => {
    await installService(machine(), { print: false });
    await uninstallService(machine(), { print: false });
    expect(existsSync(join(root, unitFile))).toBe(false);
    expect(existsSync(join(root, settingsFile))).toBe(true);
    expect(ran).toContain("systemctl disable --now corestead.service");
    expect(uninstallService(machine(), { print: false })).rejects.toThrow("there is no service");
  });

  test("of the Debian package belongs to the package", async () => {
    mkdirSync(join(root, "usr/lib/systemd/system"), { recursive: true });
    writeFileSync(join(root, packagedUnitFile), "");
    expect(installService(machine(), { print: false })).rejects.toThrow("systemctl enable --now corestead");
    expect(uninstallService(machine(), { print: false })).rejects.toThrow("apt remove corestead");
  });

  test.each<[string, Partial<Service>, string]>([
    ["not root", { isRoot: false }, "only root"],
    ["no executable", { isCompiled: false }, "bun scripts/build.ts"],
  ])("is refused for %s", async (_, change, message) => {
    expect(installService(machine(change), { print: false })).rejects.toThrow(message);
    expect(uninstallService(machine(change), { print: false })).rejects.toThrow(message);
    rmSync(join(root, "run"), { recursive: true });
    expect(installService(machine(), { print: false })).rejects.toThrow("systemd does not run here");
  });

  test("and whether it answers", async () => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status }) });
    let status = 200;
    writeFileSync(join(root, "var/lib/corestead/.env"), `PORT=${server.port}\nHOST=0.0.0.0\n`);
    const exec = "{ path=/usr/bin/corestead ; argv[]=/usr/bin/corestead serve ; ignore_errors=no }";
    const shown = (active: string) => ({
      code: 0,
      output: `LoadState=loaded\nActiveState=${active}\nUnitFileState=enabled\nExecStart=${exec}\nWorkingDirectory=/var/lib/corestead\nUser=corestead`,
    });
    answers["systemctl show"] = shown("active");
    expect(await printStatus(machine())).toBe(0);
    expect(said).toEqual([
      "corestead.service is active and enabled; it runs /usr/bin/corestead as corestead in /var/lib/corestead",
      `http://127.0.0.1:${server.port}/ready is ready`,
    ]);
    status = 503;
    expect(await printStatus(machine())).toBe(3);
    expect(said.at(-1)).toBe(`http://127.0.0.1:${server.port}/ready is not ready: it answers 503`);
    answers["systemctl show"] = shown("failed");
    expect(await printStatus(machine())).toBe(3);
    answers["systemctl show"] = { code: 0, output: "LoadState=not-found" };
    expect(await printStatus(machine())).toBe(4);
    const none = serviceState({ run: () => Promise.reject(new Error("ENOENT")) });
    expect((await none).isInstalled).toBe(false);
  });
});

describe("the unit", () => {
  test("starts the executable, and no path that systemd would read otherwise", () => {
    expect(unitText("/opt/core/corestead")).toContain("\nExecStart=/opt/core/corestead serve\n");
    for (const path of ["/opt/my core/corestead", "/opt/%n", "/opt/$HOME", "/opt/a\nUser=root"])
      expect(() => unitText(path)).toThrow("systemd cannot start");
  });

  test.skipIf(!Bun.which("systemd-analyze"))("has no mistakes, and leaves the service few rights", async () => {
    const file = join(newFolder(), "corestead.service");
    writeFileSync(file, unitText("/usr/bin/env"));
    const said2 = async (...words: string[]) => {
      const child = Bun.spawn(["systemd-analyze", ...words, file], { stdout: "pipe", stderr: "pipe" });
      return `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
    };
    expect(await said2("verify")).toBe("");
    const report = await said2("security", "--offline=yes", "--no-pager");
    const [, exposure = "10"] = /exposure level for corestead\.service: (\d{1,2}\.\d)/.exec(report) ?? [];
    expect(Number(exposure)).toBeLessThan(2);
  });
});

describe.if(linux && existsSync("/lib64/ld-linux-x86-64.so.2"))("systemd is told", () => {
  afterAll(() => delete process.env["NOTIFY_SOCKET"]);

  test.each(["path", "abstract name"])("by a socket with a %s", async (kind) => {
    const path = kind === "path" ? join(newFolder(), "notify") : `@corestead-${crypto.randomUUID()}`;
    using socket = datagrams(path);
    process.env["NOTIFY_SOCKET"] = path;
    await notifyService("READY=1\nSTATUS=serves");
    expect(socket.next()).toBe("READY=1\nSTATUS=serves");
    process.env["NOTIFY_SOCKET"] = "relative";
    await notifyService("READY=1");
    delete process.env["NOTIFY_SOCKET"];
    await notifyService("READY=1");
    expect(socket.next()).toBe("");
  });

  test("and nothing happens if nobody listens", async () => {
    process.env["NOTIFY_SOCKET"] = join(newFolder(), "gone");
    expect(await notifyService("READY=1")).toBeUndefined();
  });
});

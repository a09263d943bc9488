/** The formats of releases. Whole ones are made by scripts/release.ts and tried by scripts/release/try-image. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readConfig } from "../runtime/settings/config.ts";
import { bundledPackages } from "../scripts/notice.ts";
import { deb } from "../scripts/release/deb.ts";
import { sbom } from "../scripts/release/sbom.ts";
import { gzipped, tarOf } from "../scripts/release/tree.ts";

const root = resolve(import.meta.dir, "..");
const folder = mkdtempSync(join(tmpdir(), "corestead-release-test-"));
const time = 1_700_000_000;
afterAll(() => rmSync(folder, { recursive: true }));

async function said(...words: string[]): Promise<string> {
  const child = Bun.spawn(words, { cwd: folder, stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  expect([words[0], await child.exited]).toEqual([words[0], 0]);
  return text;
}

test("a tar has one owner and one time, sorted, and the same bytes each time", async () => {
  const program = join(folder, "program");
  writeFileSync(program, "x");
  chmodSync(program, 0o600);
  const entries = [
    { path: "b/run", from: program, mode: 0o755 },
    { path: "a.txt", text: "words\n" },
    { path: "c", mode: 0o700 },
    { path: "d/link", link: "../a.txt" },
  ];
  const bytes = await tarOf(entries, { time });
  expect(await tarOf(entries.toReversed(), { time })).toEqual(bytes);
  writeFileSync(join(folder, "t.tar.gz"), gzipped(bytes));
  const lines = (await said("tar", "--numeric-owner", "--utc", "-tvzf", "t.tar.gz")).trim().split("\n");
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " "))).toEqual([
    "drwxr-xr-x 0/0 0 2023-11-14 22:13 ./",
    "-rw-r--r-- 0/0 6 2023-11-14 22:13 ./a.txt",
    "drwxr-xr-x 0/0 0 2023-11-14 22:13 ./b/",
    "-rwxr-xr-x 0/0 1 2023-11-14 22:13 ./b/run",
    "drwx------ 0/0 0 2023-11-14 22:13 ./c/",
    "drwxr-xr-x 0/0 0 2023-11-14 22:13 ./d/",
    "lrwxrwxrwx 0/0 0 2023-11-14 22:13 ./d/link -> ../a.txt",
  ]);
});

describe("the Debian package", () => {
  const file = join(folder, "c.deb");
  const write = async () => {
    const executable = join(folder, "corestead");
    writeFileSync(executable, "#!/bin/sh\n");
    const bytes = await deb({ root, version: "1.2.3", architecture: "amd64", executable, time });
    writeFileSync(file, bytes);
    return bytes;
  };

  test("is an archive of its three members, the same each time", async () => {
    expect(await write()).toEqual(await write());
    const text = Buffer.from(await Bun.file(file).bytes()).toString("latin1");
    expect(text.slice(0, 8)).toBe("!<arch>\n");
    expect(text.slice(68, 72)).toBe("2.0\n");
    // Each header says how long its member is; members begin at even places.
    const names: string[] = [];
    for (let at = 8; at < text.length;) {
      names.push(text.slice(at, at + 16).trim());
      expect(text.slice(at + 58, at + 60)).toBe("`\n");
      const size = Number(text.slice(at + 48, at + 58));
      at += 60 + size + (size % 2);
    }
    expect(names).toEqual(["debian-binary", "control.tar.gz", "data.tar.gz"]);
  });

  test.skipIf(!Bun.which("dpkg-deb"))("is one that dpkg reads, with settings that an upgrade keeps", async () => {
    await write();
    expect(await said("dpkg-deb", "--field", file, "Package", "Version", "Architecture")).toBe(
      "Package: corestead\nVersion: 1.2.3\nArchitecture: amd64\n",
    );
    const files = await said("dpkg-deb", "--contents", file);
    for (const path of ["./usr/bin/corestead", "./usr/lib/systemd/system/corestead.service"])
      expect(files).toContain(path);
    expect(files).toMatch(/^-rw-r----- .{1,80}\.\/etc\/corestead\/corestead\.env$/m);
    expect(await said("dpkg-deb", "--info", file, "conffiles")).toBe("/etc/corestead/corestead.env\n");
    for (const script of ["postinst", "prerm", "postrm"]) {
      writeFileSync(join(folder, script), await said("dpkg-deb", "--info", file, script));
      await said("sh", "-n", script);
    }
  });
});

test.skipIf(!Bun.which("systemd-analyze"))("the systemd unit leaves the service few rights", async () => {
  const unit = join(root, "packaging/corestead.service");
  const report = await said("systemd-analyze", "security", "--offline=yes", "--no-pager", unit);
  const [, exposure = "10"] = /exposure level for corestead\.service: (\d{1,2}\.\d)/.exec(report) ?? [];
  expect(Number(exposure)).toBeLessThan(2);
});

const Texts = Type.Array(Type.String());
const Service = Type.Object({
  image: Type.String(),
  environment: Type.Record(Type.String(), Type.String()),
  ports: Texts,
  volumes: Texts,
});
const Compose = Type.Object({
  services: Type.Object({ corestead: Service }),
  volumes: Type.Record(Type.String(), Type.Unknown()),
});

test("the compose file starts the released image with settings that the server knows", async () => {
  const text = await Bun.file(join(root, "packaging/compose.yaml")).text();
  const { services, volumes } = Value.Parse(Compose, Bun.YAML.parse(text));
  const { image, environment, ports, volumes: mounts } = services.corestead;
  expect(image).toStartWith("corestead:${CORESTEAD_VERSION");
  const host = (value: string) => value.replace(/\$\{[^}]*\}/, "core.example.com");
  const filled = Object.entries(environment).map(([name, value]) => [name, host(value)]);
  const config = readConfig(Object.fromEntries(filled));
  expect(config).toMatchObject({ https: "on", baseUrl: "https://core.example.com" });
  expect(ports).toEqual([`80:${config.httpPort}`, `443:${config.httpsPort}`]);
  expect(mounts.map((one) => one.split(":")[0] ?? "")).toEqual(Object.keys(volumes));
});

test("the SBOM names every package inside with its licence and the checksum of the lockfile", async () => {
  const packages = await bundledPackages();
  const archives = new Map([["corestead-1.2.3-linux-x64.tar.gz", "ab".repeat(32)]]);
  const options = { root, version: "1.2.3", packages, archives, time: new Date(time * 1000) };
  const text = await sbom(options);
  expect(await sbom(options)).toBe(text);
  const bom = JSON.parse(text);
  expect([bom.bomFormat, bom.specVersion, bom.metadata.timestamp]).toEqual([
    "CycloneDX",
    "1.6",
    "2023-11-14T22:13:20.000Z",
  ]);
  const refs: string[] = bom.components.map((one: Record<string, string>) => one["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(bom.dependencies[0].dependsOn).toEqual(refs.filter((ref) => !ref.startsWith("file:")));
  const libraries = bom.components.filter((one: Record<string, string>) => one["type"] === "library");
  expect(libraries).toHaveLength(packages.length);
  const bare = libraries.filter((one: Record<string, unknown>) => !one["licenses"] || !one["hashes"]);
  expect(bare.map((one: Record<string, string>) => one["name"])).toEqual([]);
  expect(refs).toContain(`pkg:generic/bun@${Bun.version}`);
});

test("a release of something else than was meant is not begun", async () => {
  const child = Bun.spawn([process.execPath, join(root, "scripts/release.ts"), "--target", "linux-x64"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toContain("there is no option --target: --targets, --out");
  expect([await child.exited, await new Response(child.stdout).text()]).toEqual([1, ""]);
});

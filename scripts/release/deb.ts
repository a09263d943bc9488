/** A Debian package (deb(5)): an `ar` of its format, its control files, and the tree that it installs. */
import { join } from "node:path";
import { gzipped, tarOf, type Entry } from "./tree.ts";

export interface DebOptions {
  readonly root: string;
  readonly version: string;
  /** `amd64` or `arm64`. */
  readonly architecture: string;
  readonly executable: string;
  /** Seconds since 1970. */
  readonly time: number;
}

export async function deb({ root, version, architecture, executable, time }: DebOptions): Promise<Uint8Array> {
  const packaging = (name: string) => join(root, "packaging", name);
  const docs = "usr/share/doc/corestead";
  const tree: Entry[] = [
    { path: "usr/bin/corestead", from: executable, mode: 0o755 },
    { path: "usr/lib/systemd/system/corestead.service", from: packaging("corestead.service") },
    { path: "usr/lib/sysusers.d/corestead.conf", from: packaging("sysusers.conf") },
    { path: "etc/corestead/corestead.env", from: packaging("corestead.env"), mode: 0o640 },
    { path: `${docs}/copyright`, text: await copyrightOf(root) },
    { path: `${docs}/NOTICE.gz`, from: await packed(root, "NOTICE") },
    { path: `${docs}/changelog.gz`, from: await packed(root, "CHANGELOG.md") },
    { path: `${docs}/README.md`, from: join(root, "README.md") },
    { path: `${docs}/production.md`, from: join(root, "docs/production.md") },
    { path: `${docs}/settings.md`, from: join(root, "docs/settings.md") },
  ];
  const size = Math.ceil(Bun.file(executable).size / 1024) + 1024;
  const control: Entry[] = [
    { path: "control", text: controlText(version, architecture, size) },
    { path: "conffiles", text: "/etc/corestead/corestead.env\n" },
    ...["postinst", "prerm", "postrm"].map((name) => ({ path: name, from: packaging(name), mode: 0o755 })),
  ];
  const members: readonly (readonly [string, Uint8Array])[] = [
    ["debian-binary", new TextEncoder().encode("2.0\n")],
    ["control.tar.gz", gzipped(await tarOf(control, { time }))],
    ["data.tar.gz", gzipped(await tarOf(tree, { time }))],
  ];
  return archive(members, time);
}

/** ar(5), as dpkg reads it: names of at most 15 characters, no index. */
export function archive(members: readonly (readonly [string, Uint8Array])[], time: number): Uint8Array {
  const parts = members.flatMap(([name, bytes]) => {
    const head = [name.padEnd(16), `${time}`.padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)];
    const header = `${head.join("")}${`${bytes.length}`.padEnd(10)}\`\n`;
    return [Buffer.from(header), bytes, Buffer.from(bytes.length % 2 === 1 ? "\n" : "")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}

function controlText(version: string, architecture: string, kilobytes: number): string {
  return `Package: corestead
Version: ${version}
Architecture: ${architecture}
Maintainer: Corestead <maintainers@corestead.invalid>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.31), libgcc-s1, libstdc++6, passwd
Recommends: ca-certificates
Section: web
Priority: optional
Description: prompts, apps, databases, flows and sites in one process
 One self-hosted server for a small company: prompt templates for AI agents,
 API tokens, web apps, JSON databases with public methods, webhooks, flows
 with connectors and crons, and multilingual sites. PostgreSQL is included.
`;
}

async function copyrightOf(root: string): Promise<string> {
  const licence = await Bun.file(join(root, "LICENSE")).text();
  return `${licence.trimEnd()}\n\nThe licences of the parts are in NOTICE.gz.\n`;
}

async function packed(root: string, name: string): Promise<string> {
  const file = join(root, `dist/parts/${name}.gz`);
  await Bun.write(file, gzipped(await Bun.file(join(root, name)).bytes()));
  return file;
}

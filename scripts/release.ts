/**
 * Makes what a release consists of, from the tree as it is committed:
 *
 *     bun install --cpu='*' --os='*' --libc='*'         the packages of all platforms, once
 *     bun scripts/release.ts                            everything, into dist/release
 *     bun scripts/release.ts --targets linux-x64        one platform
 *     RELEASE_KEY=key.pem bun scripts/release.ts        and a signature (openssl genpkey -algorithm ed25519 -out key.pem)
 *
 * - an archive for each platform: the executable, licences, README, how to run and set it up, and the systemd unit;
 * - for linux-x64 and linux-arm64 a Debian package and an OCI image;
 * - an SBOM (CycloneDX 1.6), SHA256SUMS, and SHA256SUMS.sig (Ed25519).
 *
 * Needs Linux with GNU tar, and Debian for images (of arm64: dpkg --add-architecture arm64 && apt-get update). The same tree gives the same bytes, except for the executables of Bun.
 */
import { createPrivateKey, sign } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { parseArguments } from "../runtime/operations/command/arguments.ts";
import { build } from "./build.ts";
import { bundledPackages } from "./notice.ts";
import { deb } from "./release/deb.ts";
import { image } from "./release/oci.ts";
import { sbom } from "./release/sbom.ts";
import { gzipped, tarOf, type Entry } from "./release/tree.ts";

const root = resolve(import.meta.dir, "..");
const { version } = manifest;
const all = ["linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl", "darwin-arm64", "darwin-x64"];
/** As Debian and the OCI call the processors. */
const architectures: Readonly<Record<string, string>> = { "linux-x64": "amd64", "linux-arm64": "arm64" };

interface Release {
  readonly out: string;
  /** Seconds since 1970: of the commit. */
  readonly time: number;
  readonly save: (name: string, bytes: Uint8Array | string) => Promise<void>;
}

const { options } = parseArguments(process.argv.slice(2));
const strange = Object.keys(options).find((name) => name !== "targets" && name !== "out");
if (strange !== undefined) throw new Error(`there is no option --${strange}: --targets, --out`);
await makeRelease((options["targets"] ?? all.join(",")).split(","), resolve(root, options["out"] ?? "dist/release"));

async function makeRelease(wanted: readonly string[], out: string): Promise<void> {
  const unknown = wanted.find((target) => !all.includes(target));
  if (unknown !== undefined) throw new Error(`there is no target "${unknown}": ${all.join(", ")}`);
  const time = Number((await Bun.$`git -C ${root} log -1 --format=%ct`.text()).trim());
  const sums = new Map<string, string>();
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const save = async (name: string, bytes: Uint8Array | string) => {
    await Bun.write(join(out, name), bytes);
    sums.set(name, new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    process.stdout.write(`${name}  ${(Bun.file(join(out, name)).size / 1e6).toFixed(1)} MB\n`);
  };
  for (const target of wanted) await platform(target, { out, time, save });
  const packages = await bundledPackages();
  const bom = await sbom({ root, version, packages, archives: sums, time: new Date(time * 1000) });
  await save(`corestead-${version}.cdx.json`, bom);
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join("");
  await Bun.write(join(out, "SHA256SUMS"), lines);
  await signSums(out, lines);
}

async function platform(target: string, { out, time, save }: Release): Promise<void> {
  const executable = join(out, `.${target}`);
  await build({ target, outfile: executable, level: 19 });
  await save(`corestead-${version}-${target}.tar.gz`, await archiveOf(target, executable, time));
  const architecture = architectures[target];
  if (architecture !== undefined) {
    await save(
      `corestead_${version}_${architecture}.deb`,
      await deb({ root, version, architecture, executable, time }),
    );
    const notices = ["LICENSE", "NOTICE"].map((name) => join(root, name));
    const file = `corestead-${version}-${architecture}.oci.tar`;
    await save(file, await image({ version, architecture, executable, notices, time }));
  }
  await rm(executable);
}

async function archiveOf(target: string, executable: string, time: number): Promise<Uint8Array> {
  const folder = `corestead-${version}-${target}`;
  const files = ["LICENSE", "NOTICE", "README.md", "SECURITY.md", "docs/production.md", "docs/settings.md"];
  const unit = target.startsWith("linux") ? ["packaging/corestead.service", "packaging/corestead.env"] : [];
  const entries: Entry[] = [...files, ...unit].map((file) => ({ path: `${folder}/${file}`, from: join(root, file) }));
  return gzipped(await tarOf([{ path: `${folder}/corestead`, from: executable, mode: 0o755 }, ...entries], { time }));
}

/**
 * Checked by: openssl pkeyutl -verify -pubin -inkey corestead.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
 */
async function signSums(out: string, lines: string): Promise<void> {
  const file = process.env["RELEASE_KEY"];
  if (!file) {
    process.stdout.write("not signed: RELEASE_KEY names no key\n");
    return;
  }
  const key = createPrivateKey(await Bun.file(file).text());
  if (key.asymmetricKeyType !== "ed25519") throw new Error("RELEASE_KEY must be an Ed25519 key");
  await Bun.write(join(out, "SHA256SUMS.sig"), sign(null, Buffer.from(lines), key));
}

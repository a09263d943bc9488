/**
 * An OCI image (image-spec 1.1) without a container engine: an image layout in one tar, of plain layers. Its root file
 * system has the C library, the certificates of public authorities, BusyBox (the server starts its children by a shell) and
 * the executable.
 * Needs Debian's `apt-get download` and `dpkg-deb`.
 */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipped, tarOf, tarOfFolder, type Entry } from "./tree.ts";

export interface ImageOptions {
  readonly version: string;
  /** `amd64` or `arm64`. */
  readonly architecture: string;
  readonly executable: string;
  /** LICENSE and NOTICE. */
  readonly notices: readonly string[];
  /** Seconds since 1970. */
  readonly time: number;
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Layer extends Blob {
  /** The hash of the tar before compression. */
  readonly diffId: string;
}

/** The user of "nonroot" images, which no system has. */
const user = 65532;
const home = "/var/lib/corestead";
/** Libraries that the executable and PostgreSQL are linked with. */
const libraries = ["libc6", "libgcc-s1", "libstdc++6", "libc-bin", "busybox-static"];
/** The names by which BusyBox is called. */
const shellPrograms = ["sh", "sleep"];
const unneeded = [
  "usr/share",
  "usr/sbin",
  "sbin",
  "var/cache",
  "etc/ca-certificates",
  "usr/lib/x86_64-linux-gnu/gconv",
  "usr/lib/aarch64-linux-gnu/gconv",
];
const mediaType = (name: string) => `application/vnd.oci.image.${name}`;

/** The tar of the layout, for `docker load`, `podman load` or `skopeo copy oci-archive:FILE …`. */
export async function image(options: ImageOptions): Promise<Uint8Array> {
  const { time, version, architecture } = options;
  const folder = await mkdtemp(join(tmpdir(), "corestead-image-"));
  try {
    const store = blobStore(folder);
    const layers = [
      await store.layer(await systemLayer(options)),
      await store.layer(await programLayer(options)),
      await store.layer(
        await tarOf([{ path: home.slice(1), mode: 0o700 }], { time, owner: user, only: [home.slice(1)] }),
      ),
    ];
    const created = new Date(time * 1000).toISOString();
    const config = await store.json("config.v1+json", configOf(layers, { created, architecture, version }));
    const manifest = await store.json("manifest.v1+json", {
      schemaVersion: 2,
      mediaType: mediaType("manifest.v1+json"),
      config,
      layers: layers.map(({ mediaType: type, digest, size }) => ({ mediaType: type, digest, size })),
      annotations: annotationsOf(version, created),
    });
    const name = { "org.opencontainers.image.ref.name": version, "io.containerd.image.name": `corestead:${version}` };
    const index = {
      schemaVersion: 2,
      mediaType: mediaType("index.v1+json"),
      manifests: [{ ...manifest, annotations: name }],
    };
    await Bun.write(join(folder, "index.json"), JSON.stringify(index));
    await Bun.write(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    return await tarOfFolder(folder, { time });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function blobStore(folder: string) {
  const add = async (type: string, bytes: Uint8Array): Promise<Blob> => {
    const hex = sha256(bytes);
    await Bun.write(join(folder, "blobs/sha256", hex), bytes);
    return { mediaType: mediaType(type), digest: `sha256:${hex}`, size: bytes.length };
  };
  return {
    json: (type: string, value: unknown) => add(type, Buffer.from(JSON.stringify(value))),
    async layer(tar: Uint8Array<ArrayBuffer>): Promise<Layer> {
      return { ...(await add("layer.v1.tar+gzip", gzipped(tar))), diffId: `sha256:${sha256(tar)}` };
    },
  };
}

interface ImageInfo {
  readonly created: string;
  readonly architecture: string;
  readonly version: string;
}

function configOf(layers: readonly Layer[], { created, architecture, version }: ImageInfo): unknown {
  return {
    created,
    architecture,
    os: "linux",
    config: {
      User: `${user}:${user}`,
      ExposedPorts: { "3000/tcp": {} },
      Env: ["PATH=/usr/bin", "HOST=0.0.0.0", `DATA_DIR=${home}/data`, "LOG_FORMAT=json"],
      Entrypoint: ["/usr/bin/corestead"],
      Cmd: ["serve"],
      WorkingDir: home,
      Volumes: { [home]: {} },
      StopSignal: "SIGTERM",
      Labels: annotationsOf(version, created),
      // Not of the OCI's specification, but read by Docker and Podman. Times in nanoseconds.
      Healthcheck: { Test: ["CMD", "/usr/bin/corestead", "health"], Interval: 30e9, Timeout: 5e9, StartPeriod: 20e9 },
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: "scripts/release.ts" })),
  };
}

function annotationsOf(version: string, created: string): Readonly<Record<string, string>> {
  const of = (name: string) => `org.opencontainers.image.${name}`;
  return { [of("title")]: "corestead", [of("version")]: version, [of("created")]: created, [of("licenses")]: "MIT" };
}

async function programLayer({ executable, notices, time }: ImageOptions): Promise<Uint8Array<ArrayBuffer>> {
  const texts = notices.map((file): Entry => ({
    path: `usr/share/doc/corestead/${file.split("/").at(-1)}`,
    from: file,
  }));
  return tarOf([{ path: "usr/bin/corestead", from: executable, mode: 0o755 }, ...texts], { time });
}

/** The C library and its like as Debian packs them, and what a program expects of any system. */
async function systemLayer({ architecture, time }: ImageOptions): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), "corestead-system-"));
  try {
    const [packages, tree] = [join(folder, "packages"), join(folder, "tree")];
    await mkdir(packages, { mode: 0o755 });
    const wanted = [...libraries.map((name) => `${name}:${architecture}`), "ca-certificates"];
    await run(["apt-get", "download", "-qq", ...wanted], packages);
    for (const file of await readdir(packages)) await run(["dpkg-deb", "-x", file, tree], packages);
    await Bun.write(join(tree, "etc/ssl/certs/ca-certificates.crt"), await authorities(tree));
    await Bun.write(
      join(tree, "etc/passwd"),
      `root:x:0:0:root:/root:/sbin/nologin\ncorestead:x:${user}:${user}::${home}:/sbin/nologin\n`,
    );
    await Bun.write(join(tree, "etc/group"), `root:x:0:\ncorestead:x:${user}:\n`);
    await Bun.write(join(tree, "etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
    // From libc-bin only the locale C.UTF-8 is needed. BusyBox is in /bin, which is /usr/bin here.
    await rm(join(tree, "usr/bin"), { recursive: true });
    await rename(join(tree, "bin"), join(tree, "usr/bin"));
    await symlink("usr/bin", join(tree, "bin"));
    for (const name of shellPrograms) await symlink("busybox", join(tree, "usr/bin", name));
    for (const name of unneeded) await rm(join(tree, name), { recursive: true, force: true });
    for (const name of ["proc", "dev", "sys"]) await mkdir(join(tree, name), { recursive: true });
    await mkdir(join(tree, "tmp"));
    await chmod(join(tree, "tmp"), 0o1777);
    return await tarOfFolder(tree, { time });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function authorities(tree: string): Promise<string> {
  const folder = join(tree, "usr/share/ca-certificates/mozilla");
  const names = (await readdir(folder)).toSorted();
  return (await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()))).join("");
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.slice(0, 2).join(" ")} failed`);
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

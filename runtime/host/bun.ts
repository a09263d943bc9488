/** `#host` under Bun, from source and in the executable. */
import { withPlace, datagramSocket, noSignal, unixAddress, unixFamily } from "./host.ts";
import type { AddressedRequest, Bundled, Host, Listening, ListenOptions, Modules } from "./host.ts";

/**
 * Raises Bun's number of concurrent `fetch` requests. Its limit is 256 for all receivers together, and further requests
 * wait: thirty hanging receivers with ten requests each would hold up every webhook and connector. Bun reads the limit
 * from the environment only when it starts, so the server sets it there and starts itself again in the same process
 * (execv), which keeps its id and streams.
 */
const requestsVariable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** More than webhooks (`WEBHOOK_CONCURRENCY`) and flows send at once; each has a limit of its own. */
const mostRequests = "20000";
/** For the server processes that this one starts. */
const manyRequests = { [requestsVariable]: process.env[requestsVariable] ?? mostRequests };

export const host: Host = {
  name: `Bun ${Bun.version}`,
  hasAuthorTools: true,
  hasHttp2: true,
  ownProgram: (main) => (isCompiled() ? [process.execPath] : [process.execPath, main]),
  childEnv,
  serverEnv: manyRequests,
  prepareServer: allowManyRequests,
  listen,
  send,
  sendDatagram,
  hashPassword: (password, cost) => Bun.password.hash(password, { algorithm: "argon2id", ...cost }),
  verifyPassword: (password, hash) => Bun.password.verify(password, hash),
  contentHash: (text) => Bun.hash.xxHash3(text).toString(36),
  uuidv7: () => Bun.randomUUIDv7(),
  file: (path) => Bun.file(path),
  bodyOf: async (file) => file,
  provideModules,
  explainLoadError,
  bundlePage,
  importsOf: async (source) => new Bun.Transpiler({ loader: "js" }).scanImports(source).map(({ path }) => path),
  unpackArchive,
};

function isCompiled(): boolean {
  return Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN");
}

function childEnv(memoryBytes: number): Readonly<Record<string, string>> {
  return {
    // Address space reserved for compiled code counts as data: the default would use most of the limit.
    BUN_JSC_jitMemoryReservationSize: "67108864",
    BUN_JSC_forceRAMSize: `${memoryBytes >> 1}`,
    // A run uses one processor, so that the others can answer requests.
    BUN_JSC_numberOfGCMarkers: "1",
    BUN_JSC_numberOfDFGCompilerThreads: "1",
    BUN_JSC_numberOfFTLCompilerThreads: "1",
    BUN_ENABLE_CRASH_REPORTING: "0",
    DO_NOT_TRACK: "1",
  };
}

/** Larger than any body that a route accepts: routes have lower limits of their own and answer 413 in our form. */
const hardBodyLimit = Number.MAX_SAFE_INTEGER;

function listen({
  port,
  hostname,
  reusePort = false,
  http2 = false,
  idleSeconds,
  fetch: answer,
}: ListenOptions): Listening {
  const server = Bun.serve({
    port,
    hostname,
    reusePort,
    http2,
    maxRequestBodySize: hardBodyLimit,
    idleTimeout: 60,
    fetch: (request) => {
      const seconds = idleSeconds?.(request);
      if (seconds !== undefined) server.timeout(request, seconds);
      return answer(request);
    },
    error: () => Response.json({ error: "internal error" }, { status: 500 }),
  });
  // A stopped server has no port.
  const bound = server.port ?? port;
  return {
    port: bound,
    peer: (request) => server.requestIP(request) ?? undefined,
    stop: (force) => server.stop(force),
  };
}

/** Bun separates idle connections by address, port and TLS server name, so keeping them alive is safe. */
function send(url: URL, address: string, { serverName, ca, body, ...rest }: AddressedRequest): Promise<Response> {
  const at = address.includes(":") ? `[${address}]` : address;
  const port = url.port && `:${url.port}`;
  return fetch(`${url.protocol}//${at}${port}${url.pathname}${url.search}`, {
    ...rest,
    ...(body === undefined ? {} : { body }),
    redirect: "manual",
    decompress: false,
    tls: { ...(serverName === undefined ? {} : { serverName }), ...(ca === undefined ? {} : { ca }) },
  });
}

function provideModules(modules: Modules): void {
  Bun.plugin({
    name: "platform",
    setup: (build) => {
      for (const [name, exports] of Object.entries(modules))
        build.module(name, () => ({ exports: { ...exports }, loader: "object" }));
    },
  });
}

/** Bun keeps a mistake's position beside its message, and several mistakes inside an error that only counts them. */
function explainLoadError(error: unknown): unknown {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  if (!errors.every((one) => one instanceof BuildMessage)) return error;
  return new Error(errors.map(withPlace).join("; "));
}

async function bundlePage(file: string): Promise<Bundled> {
  const { success, logs, outputs, metafile } = await Bun.build({
    entrypoints: [file],
    target: "browser",
    format: "esm",
    // The same on every machine, and nothing of the server's environment.
    env: "disable",
    define: { "process.env.NODE_ENV": '"production"' },
    // Names stay, so that a fault in a browser says in which function it is.
    minify: { whitespace: true, syntax: true, identifiers: false },
    metafile: true,
    throw: false,
  });
  const [output] = outputs;
  const text = success && metafile && output ? await output.text() : undefined;
  return {
    text,
    mistakes: logs.map(withPlace),
    others: outputs.filter(({ kind }) => kind !== "entry-point").map(({ path }) => path),
    exports: Object.values(metafile?.outputs ?? {}).flatMap(({ exports }) => exports),
    inputs: metafile?.inputs ?? {},
  };
}

async function unpackArchive(archive: string, folder: string): Promise<void> {
  const packed = await Bun.file(archive).bytes();
  await new Bun.Archive(await Bun.zstdDecompress(packed)).extract(folder);
}

/** Sends a datagram to a Unix socket. Bun cannot, so the C library does. */
export async function sendDatagram(path: string, text: string): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    // Imported only here: it fails where a program may not load libraries.
    const { dlopen, ptr } = await import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      socket: { args: ["int", "int", "int"], returns: "int" },
      sendto: { args: ["int", "ptr", "u64", "int", "ptr", "u32"], returns: "i64" },
      close: { args: ["int"], returns: "int" },
    });
    const socket = symbols.socket(unixFamily, datagramSocket, 0);
    if (socket < 0) return;
    const address = unixAddress(path);
    const message = Buffer.from(text);
    symbols.sendto(socket, ptr(message), message.length, noSignal, ptr(address), address.length);
    symbols.close(socket);
  } catch {
    // another C library: no systemd
  }
}

/** Does not return if it restarts the program. If that is impossible, everything works with Bun's limit. */
async function allowManyRequests([program = "", ...words]: readonly string[]): Promise<void> {
  if (process.env[requestsVariable] !== undefined) return;
  const given = [program, ...process.execArgv, ...words, ...process.argv.slice(2)];
  try {
    process.execve?.(program, given, { ...process.env, [requestsVariable]: mostRequests });
  } catch {
    // a system that does not let it
  }
}

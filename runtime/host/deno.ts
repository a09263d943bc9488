/** `#host` under Deno, from source. docs/development.md, "Deno", says what is different there. */
import { hash, timingSafeEqual } from "node:crypto";
import { deno } from "./deno-api.ts";
import { bodyOf, DiskFile } from "./deno-file.ts";
import { listen } from "./deno-listen.ts";
import { sendDatagram } from "./deno-sockets.ts";
import type { Host, PasswordCost, Bundled, AddressedRequest } from "./host.ts";
import type { BuildOptions, Message, Metafile } from "esbuild";
import { Agent, request as requestPlain, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as requestSecure } from "node:https";

export const host: Host = {
  name: `Deno ${deno.version.deno}`,
  hasAuthorTools: false,
  hasHttp2: false,
  // The configuration is beside package.json, wherever the process is started.
  ownProgram: (main) => [deno.execPath(), "run", "-A", `--config=${import.meta.dirname}/../../deno.json`, main],
  childEnv: (memoryBytes) => ({
    // A run uses one processor, so that the others can answer requests.
    DENO_V8_FLAGS: `--max-old-space-size=${memoryBytes >> 21},--single-threaded-gc`,
    // Without its cache it would translate every source again.
    ...(process.env["DENO_DIR"] === undefined ? {} : { DENO_DIR: process.env["DENO_DIR"] }),
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  }),
  serverEnv: {},
  prepareServer: async () => {},
  listen,
  send,
  sendDatagram,
  hashPassword,
  verifyPassword,
  contentHash: (text) => hash("sha1", text, "hex").slice(0, 24),
  uuidv7,
  file: (path) => new DiskFile(path),
  bodyOf,
  // deno.json names them: Deno reads what a file imports before anything of ours can answer.
  provideModules: () => {},
  // V8's messages say where a mistake is.
  explainLoadError: (error) => error,
  bundlePage,
  importsOf,
  unpackArchive: () => Promise.reject(new Error("only the executable carries archives")),
};

let lastMs = 0;
let sequence = 0;

/** RFC 9562, version 7. Those of one millisecond count on from a random number, so that they sort in their order too. */
export function uuidv7(): string {
  const now = Date.now();
  if (now > lastMs) [lastMs, sequence] = [now, Math.trunc(Math.random() * 0x800)];
  else if (++sequence > 0xfff) [lastMs, sequence] = [lastMs + 1, 0];
  const time = lastMs.toString(16).padStart(12, "0");
  const tail = crypto.randomUUID().slice(19); // the variant and 62 random bits
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, "0")}-${tail}`;
}

// Argon2id by WebCrypto, in the form that Bun writes: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly bytes: number;
}

export async function hashPassword(password: string, { memoryCost, timeCost }: PasswordCost): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const bits = await argon2id(password, salt, { memory: memoryCost, passes: timeCost, parallelism: 1, bytes: 32 });
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${base64(salt)}$${base64(bits)}`;
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const found = /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,4}),p=(\d{1,3})\$([\w+/]{1,200})\$([\w+/]{1,200})$/.exec(
    stored,
  );
  if (!found) throw new Error("not a hash of argon2id");
  const [, memory, passes, parallelism, salt = "", expected = ""] = found;
  const wanted = Buffer.from(expected, "base64");
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const bits = await argon2id(password, bytesOf(salt), { ...cost, bytes: wanted.length });
  return timingSafeEqual(bits, wanted);
}

/** TypeScript's libraries do not know Argon2 yet. */
interface Argon2 {
  importKey(
    format: "raw-secret",
    key: Uint8Array,
    name: string,
    extractable: false,
    uses: string[],
  ): Promise<CryptoKey>;
  deriveBits(
    how: { name: "Argon2id"; nonce: Uint8Array; memory: number; passes: number; parallelism: number },
    key: CryptoKey,
    bits: number,
  ): Promise<ArrayBuffer>;
}

async function argon2id(password: string, nonce: Uint8Array<ArrayBuffer>, { bytes, ...cost }: Cost) {
  const subtle: Argon2 = Reflect.get<object, string>(crypto, "subtle");
  const secret = new TextEncoder().encode(password);
  const key = await subtle.importKey("raw-secret", secret, "Argon2id", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "Argon2id", nonce, ...cost }, key, bytes * 8));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Without padding, as in that form. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

// Pages of the Studio, bundled by esbuild: Deno has no bundler that works without a network.

/** The same on every machine, and nothing of the server's environment. */
const options = {
  bundle: true,
  format: "esm",
  platform: "browser",
  define: { "process.env.NODE_ENV": '"production"' },
  // Names stay, so that a fault in a browser says in which function it is.
  minifyWhitespace: true,
  minifySyntax: true,
  write: false,
  logLevel: "silent",
} as const satisfies BuildOptions;

export async function bundlePage(file: string): Promise<Bundled> {
  // Most servers have no such pages.
  const { build } = await import("esbuild");
  const made = await build({ ...options, entryPoints: [file], outdir: "out", metafile: true }).catch(failed);
  if (!("metafile" in made)) return { text: undefined, ...made, others: [], exports: [], inputs: {} };
  const { outputFiles, metafile } = made;
  const [main, ...others] = outputFiles;
  return {
    text: main?.text,
    mistakes: [],
    others: others.map(({ path }) => path),
    exports: Object.values(metafile.outputs).flatMap(({ exports }) => exports),
    inputs: metafile.inputs,
  };
}

export async function importsOf(source: string): Promise<readonly string[]> {
  const { build } = await import("esbuild");
  const stdin = { contents: source, loader: "js" } as const;
  const external = ["*"];
  const made = await build({ ...options, stdin, external, metafile: true }).catch(failed);
  return "metafile" in made ? importsIn(made.metafile) : [];
}

function importsIn({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
}

function failed(error: unknown): { mistakes: string[] } {
  const errors: readonly Message[] =
    error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [];
  return errors.length === 0 ? { mistakes: [String(error)] } : { mistakes: errors.map(withPlace) };
}

function withPlace({ text, location }: Message): string {
  return location ? `${text} (${location.file}:${location.line}:${location.column})` : text;
}

/*
 * Outbound requests by node:http and node:https. Deno's own fetch cannot ask one address for another name, gives no
 * error codes, and decompresses bodies.
 */

/** They separate idle connections by address, port and TLS server name, so keeping them alive is safe. */
const agent = new Agent({ keepAlive: true });
const secureAgent = new SecureAgent({ keepAlive: true });

export function send(url: URL, address: string, request: AddressedRequest): Promise<Response> {
  const { serverName, ca, body, signal, method, headers } = request;
  const secure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const sent = (secure ? requestSecure : requestPlain)(
      {
        agent: secure ? secureAgent : agent,
        host: address,
        port: Number(url.port) || (secure ? 443 : 80),
        path: url.pathname + url.search,
        method,
        headers: Object.fromEntries(headers),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(ca === undefined ? {} : { ca }),
      },
      (incoming) => resolve(responseOf(incoming, method, signal)),
    );
    // Not by its option `signal`: an abort must be told even if the socket never ends.
    const abort = () => {
      reject(signal.reason);
      sent.destroy();
    };
    signal.addEventListener("abort", abort, { once: true });
    sent.on("error", reject).end(body);
  });
}

function responseOf(incoming: IncomingMessage, method: string, signal: AbortSignal): Response {
  const status = incoming.statusCode ?? 500;
  const hasBody = method !== "HEAD" && ![101, 204, 205, 304].includes(status);
  if (!hasBody) incoming.resume();
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  return new Response(hasBody ? incomingBody(incoming, signal) : null, { status, headers });
}

function incomingBody(incoming: IncomingMessage, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  const stop = () => void incoming.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener("abort", stop, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: stop,
  });
}

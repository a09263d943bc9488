/**
 * What Bun and Deno do differently. `#host` (package.json, `imports`) is the one that runs us: bun.ts or deno.ts. No
 * other file of the runtime names either of them; what both do alike is imported from `node:`.
 */

export interface ListenOptions {
  readonly port: number;
  readonly hostname: string;
  /** Several processes share the port. */
  readonly reusePort?: boolean;
  /** Takes HTTP/2 too, of clients that begin with it. */
  readonly http2?: boolean;
  /** For how many seconds a request's connection may be silent: 0 = forever, undefined = a minute. */
  readonly idleSeconds?: (request: Request) => number | undefined;
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

export interface Listening {
  readonly port: number;
  /** The other end of a request's connection; undefined if it is gone. */
  readonly peer: (request: Request) => { readonly address: string; readonly port: number } | undefined;
  /** Takes no more connections, and resolves when all requests are answered; `force` does not wait for them. */
  readonly stop: (force?: boolean) => Promise<void>;
}

export interface AddressedRequest {
  readonly method: string;
  /** With `host`. */
  readonly headers: Headers;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  /** The name that TLS asks for and checks; undefined if the URL has an address in its place. */
  readonly serverName?: string;
  /** A certificate authority to trust besides the public ones. */
  readonly ca?: string;
}

export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** What a module imports by name -> what it gets. */
export type Modules = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A module for browsers, made of a file and everything that it imports. */
export interface Bundled {
  /** Undefined if there are mistakes. */
  readonly text: string | undefined;
  readonly mistakes: readonly string[];
  /** Files that would have to lie beside it. */
  readonly others: readonly string[];
  readonly exports: readonly string[];
  /** What each file imports. */
  readonly inputs: Readonly<Record<string, { readonly imports: readonly BundledImport[] }>>;
}

interface BundledImport {
  readonly path: string;
  /** As the source says it. */
  readonly original?: string;
  readonly external?: boolean;
}

export interface Host {
  /** `Bun 1.4.5` */
  readonly name: string;
  /** Whether it has a bundler and a test runner for authors of plugins. */
  readonly hasAuthorTools: boolean;
  /** Whether `listen` can take HTTP/2. */
  readonly hasHttp2: boolean;
  /** The command that starts this program again; `main` is its source if it is not an executable. */
  readonly ownProgram: (main: string) => string[];
  /** Variables that limit the memory and the threads of a child process. */
  readonly childEnv: (memoryBytes: number) => Readonly<Record<string, string>>;
  /** Variables of the server processes that this one starts. */
  readonly serverEnv: Readonly<Record<string, string>>;
  /** Starts the program anew, by `ownProgram`, where that is the only way to get what a server needs. */
  readonly prepareServer: (ownProgram: readonly string[]) => Promise<void>;
  /** Throws an error with a code such as EADDRINUSE. */
  readonly listen: (options: ListenOptions) => Listening;
  /** Sends the request to `address`, wherever the URL's host leads. No redirects; the body as it comes, compressed or not. */
  readonly send: (url: URL, address: string, request: AddressedRequest) => Promise<Response>;
  /** Sends one datagram to a Unix socket; a path that begins with "@" is abstract. */
  readonly sendDatagram: (path: string, text: string) => Promise<void>;
  /** Argon2id, in the PHC form that both hosts read: `$argon2id$v=19$m=…`. */
  readonly hashPassword: (password: string, cost: PasswordCost) => Promise<string>;
  readonly verifyPassword: (password: string, hash: string) => Promise<boolean>;
  /** A fast hash of at least 64 bits in letters and digits, the same in every process of this host. */
  readonly contentHash: (text: string) => string;
  readonly uuidv7: () => string;
  /** A file, read when its bytes are asked for. */
  readonly file: (path: string) => Blob;
  /** Such a file, or a part of it, as the body of an answer. */
  readonly bodyOf: (file: Blob) => Promise<Blob | ReadableStream<Uint8Array>>;
  /**
   * Makes imports of these names give these modules, in files outside of this program too. They must be ours, because
   * the errors that plugins throw are recognised by class.
   */
  readonly provideModules: (modules: Modules) => void;
  /** An error whose message says where a module that does not load is wrong. */
  readonly explainLoadError: (error: unknown) => unknown;
  readonly bundlePage: (file: string) => Promise<Bundled>;
  /** What the source of a module imports. */
  readonly importsOf: (source: string) => Promise<readonly string[]>;
  /** Unpacks a .tar.zst, with links and modes, into an existing folder. */
  readonly unpackArchive: (archive: string, folder: string) => Promise<void>;
}

/** A `struct sockaddr_un`; a name that begins with @ is abstract: it begins with NUL and has none at its end. */
export function unixAddress(path: string): Buffer<ArrayBuffer> {
  const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
  return Buffer.concat([new Uint8Array(new Uint16Array([unixFamily]).buffer), Buffer.from(name)]);
}

export const unixFamily = 1;
/** SOCK_DGRAM with SOCK_CLOEXEC. */
export const datagramSocket = 2 | 0o2000000;
/** MSG_NOSIGNAL */
export const noSignal = 0x4000;

/** A mistake that Bun found in a source, with its place. */
export function withPlace({ message, position }: Pick<BuildMessage, "message" | "position">): string {
  return position ? `${message} (${position.file}:${position.line}:${position.column})` : message;
}

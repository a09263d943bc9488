/** As much of Deno as we use. Its own types cannot be loaded beside those of Bun. */

export interface NetAddress {
  readonly hostname: string;
  readonly port: number;
}

interface ServeOptions {
  readonly port: number;
  readonly hostname: string;
  readonly reusePort: boolean;
  readonly signal: AbortSignal;
  readonly onListen: () => void;
  readonly onError: (error: unknown) => Response;
}

interface Served {
  readonly addr: NetAddress;
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/** A function of a C library; a buffer is passed by its address. */
interface Signature {
  readonly parameters: readonly ("i32" | "u32" | "usize" | "buffer")[];
  readonly result: "i32" | "isize";
}

interface Deno {
  readonly version: { readonly deno: string };
  execPath(): string;
  serve(
    options: ServeOptions,
    answer: (request: Request, info: { readonly remoteAddr: NetAddress }) => Response | Promise<Response>,
  ): Served;
  dlopen<Name extends string>(
    file: string,
    functions: Readonly<Record<Name, Signature>>,
  ): { readonly symbols: Readonly<Record<Name, (...given: readonly (number | Uint8Array)[]) => number | bigint>> };
}

declare const Deno: Deno;

export const deno: Deno = Deno;

/** A text that stays the same while the process runs: compressed once for each encoding that a client asks for. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { contentHash } from "../../base/hash.ts";
import { webFile } from "./web-file.ts";

/**
 * Answers requests for the text that `make` gives when it is first asked for. The address does not change with the text,
 * so clients ask each time and get 304.
 */
export function createPackedText(
  type: string,
  make: () => string,
  own: Readonly<Record<string, string>> = {},
): (request: Request) => Promise<Response> {
  let plain: Uint8Array<ArrayBuffer> | undefined;
  let version = "";
  const packed = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  const read = (suffix: string): Promise<Uint8Array<ArrayBuffer>> => {
    const known = packed.get(suffix);
    if (known) return known;
    const made = compressed(plain ?? new Uint8Array(), suffix);
    packed.set(suffix, made);
    return made;
  };

  return (request) => {
    if (!plain) {
      const text = make();
      version = contentHash(text);
      plain = new TextEncoder().encode(text);
    }
    return webFile(request, { version, type, read, headers: { "cache-control": "private, no-cache", ...own } });
  };
}

async function compressed(plain: Uint8Array<ArrayBuffer>, suffix: string): Promise<Uint8Array<ArrayBuffer>> {
  // The best quality takes a second, for which the first client would wait.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  if (suffix === ".br") return new Uint8Array(await promisify(brotliCompress)(plain, quality));
  return suffix === ".gz" ? new Uint8Array(await promisify(gzip)(plain)) : plain;
}

/** Files for browsers that a build has named by their content and compressed once: sent as the client takes them, kept forever. */
import { notFound } from "../../base/errors.ts";
import { etag, isKnownTag } from "./etag.ts";

type Encoding = "br" | "gzip" | "identity";

export interface WebFile {
  /** Differs whenever the content does. */
  readonly version: string;
  readonly type: string;
  /** The content with this ending of its name (`.br`, `.gz` or none); undefined if there is no such file. */
  readonly read: (suffix: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  readonly headers?: Readonly<Record<string, string>>;
}

const suffixes = { br: ".br", gzip: ".gz", identity: "" } as const;

/** Throws 404 where there is no such file. RFC 9110, sections 12.5.3 and 13.1.2. */
export async function webFile(request: Request, { version, type, read, headers: own }: WebFile): Promise<Response> {
  const encoding = encodingOf(request.headers.get("accept-encoding"));
  const bytes = await read(suffixes[encoding]);
  if (!bytes) throw notFound();
  const tag = etag(`${version}-${encoding}`, 1);
  const headers = {
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
    etag: tag,
    ...own,
    ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
  };
  if (isKnownTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  return new Response(bytes, { headers });
}

/** The best encoding that the client accepts; `br;q=0` refuses it. */
function encodingOf(accepted: string | null): Encoding {
  const taken = new Set<string>();
  for (const part of (accepted ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : "identity";
}

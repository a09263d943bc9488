import { answer, cacheKey, HttpError, isKnownTag, isUuid, notFound, route } from "platform";
import type { Account, Caller, Files, Route } from "platform";
import type { Media } from "./api.ts";
import { addressOf, secondsLeft } from "./fields.ts";
import { isInline } from "./content/sniff.ts";
import { formats, variantOf } from "./pictures/variants.ts";
import type { MediaRow } from "./store.ts";
import type { Pictures } from "./pictures/pictures.ts";
import type { MediaContext } from "./context.ts";

/** Nothing in a file may act, whatever it pretends to be: not in a window of its own either. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** `/media/<id>/<name>`: the bytes. behaviour B.15. */
export function serveRoutes(ctx: MediaContext, pictures: Pictures): Route[] {
  const readable = async (account: Account, caller: Caller | null, id: string, query: URLSearchParams) => {
    const row = await rowAt(ctx, account.id, id);
    const mayRead = caller?.privileges.has("media") ?? false;
    return { row, caching: cachingOf(row, mayRead, () => secondsLeft(ctx.secrets, row, query)) };
  };
  return [
    route(
      "GET",
      "/media/:id/:name",
      {
        summary: "The bytes of a media file",
        description:
          "A public file needs nothing, and never changes at its address. Any other needs a token with the privilege `media`, or `expires` and `signature` of a link. Range requests and `If-Range` are answered.",
        access: { open: "files may be public; others are 404 without a link or a token", partly: true },
        cors: true,
        onSites: true,
        query: { expires: "of a link", signature: "of a link" },
        answers: { 200: answer.text("application/octet-stream"), 206: answer.text("application/octet-stream") },
        responses: { 200: "…", 206: "…", 302: null, 304: null, 416: { error: "the file has 284113 bytes" } },
      },
      async ({ account, caller, params, query, request }) => {
        const { row, caching } = await readable(account, caller, params.id, query);
        const { pathname, search } = new URL(request.url);
        if (pathname.slice(pathname.lastIndexOf("/") + 1) !== encodeURIComponent(row.name)) return renamed(row, search);
        return sent(ctx.contents, row, request, caching);
      },
    ),
    route(
      "GET",
      "/media/:id/w/:variant",
      {
        summary: "A picture in another size",
        description:
          "`640.webp`: one of the widths 160, 320, 640, 960, 1280, 1920 and 2560, or the picture's own if it is smaller, as webp, avif or jpeg. It is turned as its EXIF says, in sRGB, and nothing of EXIF is left. Who may read it is as for the file.",
        access: { open: "files may be public; others are 404 without a link or a token", partly: true },
        onSites: true,
        query: { expires: "of a link", signature: "of a link" },
        answers: { 200: formats.map((format) => answer.text(`image/${format}`)) },
        responses: {
          200: "…",
          304: null,
          422: { base: ["the file has more than 40000000 points"] },
          503: { error: "many pictures are being made, try again" },
        },
      },
      async ({ account, caller, params, query, request }) => {
        const { row, caching } = await readable(account, caller, params.id, query);
        return sentVariant(pictures, row, params.variant, request, caching);
      },
    ),
  ];
}

async function rowAt(ctx: MediaContext, accountId: number, id: string): Promise<MediaRow> {
  if (!isUuid(id)) throw notFound();
  const key = cacheKey(accountId, id.toLowerCase());
  const row = ctx.rows.peek(key) ?? (await ctx.rows.get(key));
  if (!row) throw notFound();
  return row;
}

/** For other plugins, which know that the request may read the file. */
export function sender(ctx: MediaContext, pictures: Pictures): Media["sent"] {
  return async (accountId, id, request, size) => {
    const row = await rowAt(ctx, accountId, id);
    const caching = "private, no-cache";
    return size === undefined
      ? sent(ctx.contents, row, request, caching)
      : sentVariant(pictures, row, size, request, caching);
  };
}

async function sentVariant(
  pictures: Pictures,
  row: MediaRow,
  name: string,
  request: Request,
  caching: string,
): Promise<Response> {
  const variant = variantOf(name);
  if (!variant) throw notFound();
  const tag = `"${row.hash.slice(0, 32)}-${name}"`;
  const headers = headersOf(`image/${variant.format}`, caching, tag);
  if (isKnownTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  const { bytes, size } = await pictures.get(row, variant);
  const body = bytes instanceof Blob ? bytes : await bytes.part(0, size, headers["content-type"]);
  return new Response(body, { headers });
}

/** 404 for whoever may not read the file: it is not said that there is one. */
function cachingOf({ isPublic }: MediaRow, mayRead: boolean, byLink: () => number): string {
  if (isPublic) return "public, max-age=31536000, immutable";
  if (mayRead) return "private, no-cache";
  const seconds = byLink();
  if (seconds <= 0) throw notFound();
  return `private, max-age=${seconds}`;
}

/** An address under an earlier name, or one that a client has encoded in its own way. */
function renamed(row: MediaRow, search: string): Response {
  return new Response(null, {
    status: 302,
    headers: { location: `${addressOf(row)}${search}`, "cache-control": "no-cache" },
  });
}

async function sent(files: Files, row: MediaRow, request: Request, caching: string): Promise<Response> {
  const { hash, mime, name, size } = row;
  const tag = `"${hash.slice(0, 32)}"`;
  const headers = {
    ...headersOf(mime.startsWith("text/") ? `${mime}; charset=utf-8` : mime, caching, tag),
    "accept-ranges": "bytes",
    "content-disposition": dispositionOf(mime, name),
  };
  if (isKnownTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  const range = rangeOf(request.headers, size, tag);
  if (range === "unsatisfiable")
    throw new HttpError(416, { error: `the file has ${size} bytes` }, { "content-range": `bytes */${size}` });
  const content = await files.find(hash);
  if (!content) throw new Error(`the content of media file ${row.id} is missing`);
  const { from, to } = range ?? { from: 0, to: size };
  const body = await content.part(from, to, headers["content-type"]);
  if (!range) return new Response(body, { headers });
  return new Response(body, {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${from}-${to - 1}/${size}` },
  });
}

function headersOf(type: string, caching: string, tag: string) {
  return {
    etag: tag,
    "cache-control": caching,
    "content-type": type,
    "content-security-policy": policy,
    "cross-origin-resource-policy": "cross-origin",
  };
}

/** RFC 6266. The plain name is for clients that do not know the other one. */
function dispositionOf(mime: string, name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${isInline(mime) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** From the first byte to before the last; `unsatisfiable` is 416; undefined sends the whole. */
export type Range = { readonly from: number; readonly to: number } | "unsatisfiable" | undefined;

/**
 * Of several ranges, or of a header that cannot be read, the whole is sent, as the standard allows. `tag` is the file's:
 * with an `If-Range` of another one it is a part of something else that is wanted.
 */
export function rangeOf(headers: Headers, size: number, tag: string): Range {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const condition = headers.get("if-range");
  if (condition !== null && condition.trim() !== tag) return undefined;
  if (first === "") {
    const bytes = Math.min(Number(last), size);
    return bytes === 0 ? "unsatisfiable" : { from: size - bytes, to: size };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return undefined;
  if (from >= size) return "unsatisfiable";
  return { from, to: last === "" ? size : Math.min(Number(last) + 1, size) };
}

/** Serves the browser runtimes: immutable, compressed once at build time. */
import { answer, etag, isKnownTag, notFound, route, type Route } from "platform";
import type { AppRuntimes, Encoding } from "./runtimes.ts";

export function runtimeRoutes(runtimes: AppRuntimes): Route[] {
  return [
    route(
      "GET",
      "/_rt/:hash/:name",
      {
        summary: "A file that apps import in the browser",
        access: { open: "the same public libraries for every app" },
        onSites: true,
        answers: { 200: answer.text("text/javascript") },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      async ({ request, params: { hash, name } }) => {
        if (hash !== runtimes.hash) throw notFound();
        const encoding = encodingOf(request.headers.get("accept-encoding"));
        const bytes = await runtimes.read(name, encoding);
        if (!bytes) throw notFound();
        const tag = etag(`${hash}-${encoding}`, 1);
        const headers = {
          ...shared,
          etag: tag,
          ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
        };
        if (isKnownTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
        return new Response(bytes, { headers });
      },
    ),
  ];
}

const shared = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "public, max-age=31536000, immutable",
  vary: "accept-encoding",
  // An app's page has an opaque origin.
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/** The best encoding that the client accepts; `br;q=0` refuses it. */
function encodingOf(accepted: string | null): Encoding {
  const taken = new Set<string>();
  for (const part of (accepted ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : "identity";
}

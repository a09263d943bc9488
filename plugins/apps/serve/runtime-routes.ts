/** Serves the browser runtimes: immutable, compressed once at build time. */
import { answer, notFound, route, webFile, type Route } from "platform";
import type { AppRuntimes } from "../build/runtimes.ts";

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
        const read = (suffix: string) => runtimes.read(name, suffix);
        return webFile(request, { version: hash, type: "text/javascript; charset=utf-8", read, headers: shared });
      },
    ),
  ];
}

const shared = {
  // An app's page has an opaque origin.
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

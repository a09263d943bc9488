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
        const read = (suffix: string) => runtimes.read(name, suffix);
        const file = { version: runtimes.hash, type: "text/javascript; charset=utf-8", read };
        if (hash === runtimes.hash) return webFile(request, { ...file, headers: shared });
        // A page of another release, which serves beside this one during an upgrade, or which stayed open.
        if (!hashPattern.test(hash)) throw notFound();
        return webFile(request, { ...file, headers: { ...shared, "cache-control": "no-store" } });
      },
    ),
  ];
}

const hashPattern = /^[\da-f]{16}$/;

const shared = {
  // An app's page has an opaque origin.
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

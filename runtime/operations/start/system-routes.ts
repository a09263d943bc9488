import { Type } from "@sinclair/typebox";
import { answer } from "../../http/answers/answers.ts";
import { docsPage, docsPolicy } from "../openapi/docs-page.ts";
import { HttpError, notFound, unauthorized } from "../../base/errors.ts";
import { languageOf, type Language } from "../../http/language.ts";
import type { SystemRequest, SystemRoute } from "../../http/http.ts";
import type { Metrics } from "../../system/metrics.ts";
import { clientModule } from "../openapi/client.ts";
import { openapi } from "../openapi/openapi.ts";
import type { Readiness } from "./readiness.ts";
import { createPackedText } from "../../http/answers/packed-text.ts";
import { jsonType, ok, redirect, text } from "../../http/answers/reply.ts";
import type { Route } from "../../http/route.ts";

interface SystemContext {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly routes: readonly Route[];
  readonly origin: () => string;
  /** Aborted when this process is to be asked no more. */
  readonly draining: AbortSignal;
}

/** behaviour B.3: health, readiness, metrics and the documentation. */
export function systemRoutes({ readiness, metrics, routes, origin, draining }: SystemContext): SystemRoute[] {
  const ready = async () => {
    if (draining.aborted)
      throw new HttpError(503, { error: "the server is stopping", role: "draining" }, { "retry-after": "1" });
    return ok(await readiness.check());
  };
  const printMetrics = async (input: SystemRequest) => {
    if (!fromThisMachine(input) && !(await input.isOperator()))
      throw unauthorized("metrics are for an administrator of the first account, or for this machine");
    return text(200, await metrics.print(), metrics.type);
  };
  const hasLlms = routes.some(({ path }) => path === "/llms.txt");
  const links = [...(hasLlms ? [llmsLink] : []), ...documentation].join(", ");
  const begin = async ({ ownHost, caller }: SystemRequest) => {
    if (!(await ownHost())) throw notFound();
    const headers = { "cache-control": "no-store", link: links };
    return redirect(303, (await caller())?.viaCookie ? "/studio" : "/login", headers);
  };
  const description = createPackedText(jsonType, () => JSON.stringify(openapi(routes, own, origin())));
  const docsIn = (language: Language) =>
    createPackedText("text/html; charset=utf-8", () => docsPage(openapi(routes, own, origin()), origin(), language), {
      "content-security-policy": docsPolicy(language),
      vary: "accept-encoding, accept-language, cookie",
    });
  const docs = new Map<Language, ReturnType<typeof docsIn>>();
  const showDocs = ({ request }: SystemRequest) => {
    const language = languageOf(request);
    const page = docs.get(language) ?? docsIn(language);
    docs.set(language, page);
    return page(request);
  };
  const client = createPackedText(plain, () => clientModule(openapi(routes, own, origin())));
  const own: SystemRoute[] = [
    {
      path: "/",
      summary: "Where to begin: the Studio, or signing in",
      responses: { 303: null, 404: { error: "not found" } },
      run: begin,
    },
    {
      path: "/favicon.ico",
      summary: "The icon of this server's own pages",
      answers: { 200: answer.text("image/svg+xml") },
      responses: { 200: "<svg …" },
      run: () => text(200, icon, "image/svg+xml", { "cache-control": "public, max-age=86400" }),
    },
    {
      path: "/health",
      summary: "Whether the process answers",
      answers: { 200: stateOf("Health", "ok") },
      responses: { 200: { status: "ok" } },
      run: () => ok({ status: "ok" }),
    },
    {
      path: "/ready",
      summary:
        "Whether the database takes writes, and whether this process hears of others' changes; within 2 s. 503 while it is draining",
      answers: { 200: readyShape, 503: notReadyShape },
      responses: {
        200: { status: "ready", role: "primary", writable: true, listening: true, disk: "ok" },
        503: { error: "the database takes no writes", role: "standby", writable: false, listening: true, disk: "ok" },
      },
      run: ready,
    },
    {
      path: "/metrics",
      summary:
        "Prometheus metrics of the installation; a token of an administrator of its first account, or from this machine",
      answers: { 200: answer.text("text/plain") },
      responses: {
        200: "# HELP corestead_jobs_waiting …",
        401: { error: "metrics are for an administrator of the first account, or for this machine" },
      },
      run: printMetrics,
    },
    {
      path: "/openapi.json",
      summary: "This description",
      answers: { 200: Type.Object({ openapi: Type.String(), paths: answer.json() }, { additionalProperties: true }) },
      responses: { 200: { openapi: "3.1.0", paths: {} }, 304: null },
      // Made once, on the first request: the routes do not change.
      run: ({ request }) => description(request),
    },
    {
      path: "/client.ts",
      summary: "A typed client as a TypeScript module, made from this description",
      answers: { 200: answer.text("text/plain") },
      responses: { 200: "export interface Schemas { …", 304: null },
      run: ({ request }) => client(request),
    },
    {
      path: "/docs",
      summary: "The documentation as a page",
      answers: { 200: answer.text("text/html") },
      responses: { 200: "<!doctype html> …", 304: null },
      run: showDocs,
    },
  ];
  return own;
}

/** For programs that know nothing but the address (RFC 8631). */
const documentation = ['</openapi.json>; rel="service-desc"', '</docs>; rel="service-doc"'];
const llmsLink = '</llms.txt>; rel="describedby"; type="text/plain"';

const plain = "text/plain; charset=utf-8";
const readyFacts = {
  writable: Type.Boolean(),
  listening: Type.Boolean(),
  disk: Type.Union([Type.Literal("ok"), Type.Literal("short"), Type.Literal("full")], {
    description: "room in DATA_DIR: `short` of what uploads and imports leave free (`DISK_RESERVE_BYTES`)",
  }),
  replicas: Type.Optional(
    Type.Object(
      { ready: Type.Integer(), of: Type.Integer() },
      { description: "with `DATABASE_READ_URL`: how many replicas answer reads now" },
    ),
  ),
  rehearsal: Type.Optional(
    Type.Literal(true, {
      description: "a copy of the data: no jobs, crons, mails, webhooks, backups and orders of certificates",
    }),
  ),
};
const readyShape = answer.object("Readiness", {
  status: Type.Literal("ready"),
  role: Type.Literal("primary"),
  ...readyFacts,
});
/** A stopping server does not check its database. */
const notReadyShape = answer.object("NotReady", {
  error: Type.String(),
  role: Type.Optional(Type.Union([Type.Literal("primary"), Type.Literal("standby"), Type.Literal("draining")])),
  ...Type.Partial(Type.Object(readyFacts)).properties,
});

const stateOf = (name: string, status: string) => answer.object(name, { status: Type.Literal(status) });

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fd0"/><path d="M22 11.5a8 8 0 1 0 0 9" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>`;

/**
 * A loopback peer that forwards for somebody else (a reverse proxy) does not count. Neither does a page whose host name
 * resolves to this machine: a browser here would read the answer for that page.
 */
function fromThisMachine({ request, peer, localHost }: SystemRequest): boolean {
  const forwarded = ["x-forwarded-for", "forwarded", "x-real-ip"].some((name) => request.headers.has(name));
  return localHost && !forwarded && /^(127\.|::1$|::ffff:127\.)/.test(peer);
}

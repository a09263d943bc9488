/** The page of the Studio, at every address below /studio, and its files. */
import {
  answer,
  languageOf,
  notFound,
  ok,
  randomToken,
  redirect,
  route,
  text,
  Type,
  webFile,
  forbidden,
  invalid,
} from "platform";
import type { BaseContext, Caller, RequestInput, Route } from "platform";
import { shell, shellPolicy, type Extension } from "./shell.ts";
import type { JsonDatabases } from "../../plugins/jsondb/api.ts";
import { ownPath, shownPath } from "./app/shown.ts";
import type { StudioFiles } from "./files.ts";
import type { Changes } from "./changes.ts";
import { mayRead, recordResult, foundIn, most, ranked, readMost, searchedLists } from "./search.ts";
import type { SearchResult, SearchedList } from "./search.ts";

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};
const access = { open: "it leads to the sign-in page; what it shows comes from the API" } as const;
const page = {
  summary: "The account's user interface",
  access,
  answers: { 200: answer.text("text/html") },
  responses: { 200: "<!doctype html> …", 301: null, 303: null },
};

export function studioRoutes(
  files: StudioFiles,
  extensions: readonly Extension[],
  { rehearses, secrets }: Pick<BaseContext, "rehearses" | "secrets">,
  showsKit: boolean,
): Route[] {
  const answerPage = ({ caller, request, account }: RequestInput | StudioRequest) => {
    const { pathname, search } = new URL(request.url);
    const to = shownPath(ownPath(pathname));
    if (to !== pathname) return redirect(301, `${to}${search}`, { "cache-control": "no-store" });
    if (!caller?.viaCookie)
      return redirect(303, `/login?return_to=${encodeURIComponent(`${pathname}${search}`)}`, {
        "cache-control": "no-store",
      });
    const nonce = randomToken(16);
    const draftKey = secrets.derive("studio.drafts", `${account.id}:${caller.user.id}`);
    const shown = {
      files,
      nonce,
      accountName: account.name,
      isRehearsal: rehearses(),
      showsKit,
      language: languageOf(request),
      draftKey,
      pathname,
      search,
    };
    return text(200, shell(shown), "text/html; charset=utf-8", {
      "content-security-policy": shellPolicy(nonce),
      "x-frame-options": "DENY",
      "cache-control": "no-store",
    });
  };

  return [
    route("GET", "/studio", page, answerPage),
    route("GET", "/studio/*", page, answerPage),
    route(
      "GET",
      "/studio/-/:name",
      {
        summary: "A script, style or font of the user interface",
        access: { open: "the same files for everyone" },
        answers: {
          200: [
            answer.text("text/javascript"),
            answer.text("text/css"),
            answer.text("font/woff2"),
            answer.text("image/svg+xml"),
          ],
        },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      ({ request, params: { name } }) => {
        const version = Object.hasOwn(files.files, name) ? files.files[name] : undefined;
        if (version === undefined) throw notFound();
        const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "text/javascript; charset=utf-8";
        return webFile(request, { version, type, read: (suffix) => files.read(name, suffix) });
      },
    ),
    ...extensionRoutes(extensions),
  ];
}

/** The pages of plugins, and their modules. */
function extensionRoutes(extensions: readonly Extension[]): Route[] {
  return [
    route(
      "GET",
      "/studio/-/pages",
      {
        summary: "The pages that plugins add to the user interface",
        description: "Those that one may open; each is an ES module.",
        access: { signedIn: "everyone sees their own menu" },
        answers: { 200: answer.list(Page) },
        responses: { 200: [pageExample] },
      },
      ({ caller }) =>
        ok(
          extensions
            .filter((one) => mayOpen(caller, one))
            .map(({ plugin, path, title, view = null, icon = null, file }) => ({
              path,
              title: { pl: title.en, de: title.en, ...title },
              view,
              icon,
              module: `/studio/ext/${plugin}/${file}`,
            })),
        ),
    ),
    route(
      "GET",
      "/studio/ext/:plugin/:file",
      {
        summary: "The module of a plugin's page",
        description: "404 also for those who may not open the page.",
        access: { signedIn: "its page's privilege is asked for" },
        answers: { 200: answer.text("text/javascript") },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      ({ request, caller, params: { plugin, file } }) => {
        const found = extensions.find((one) => one.plugin === plugin && one.file === file && mayOpen(caller, one));
        if (!found) throw notFound();
        return found.send(request);
      },
    ),
  ];
}

function mayOpen({ privileges }: Pick<Caller, "privileges">, { privilege }: Extension): boolean {
  return privilege === undefined || privileges.has(privilege);
}

const Page = answer.object("StudioPage", {
  path: Type.String(),
  title: Type.Object({ en: Type.String(), pl: Type.String(), de: Type.String() }),
  view: Type.Union([Type.String(), Type.Null()]),
  icon: Type.Union([Type.String(), Type.Null()]),
  module: Type.String(),
});
const pageExample = {
  path: "crm/contacts",
  title: { en: "Contacts", pl: "Kontakty", de: "Kontakte" },
  view: "contacts/index",
  icon: "users",
  module: "/studio/ext/crm/1a-2b.js",
};

type StudioRequest = Pick<RequestInput, "caller" | "request" | "account">;

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

/** `paths` are those of the lists that can be followed. */
export function changesRoutes(
  changes: Changes,
  paths: () => readonly string[],
  routes: () => readonly Route[],
): Route[] {
  const mayFollow = (path: string, caller: Caller) =>
    routes().some((one) => one.method === "GET" && one.path === path && mayRead(one, caller));
  return [
    route(
      "GET",
      "/core/events",
      {
        summary: "Follow a list",
        description:
          "Server-Sent Events `changed` when something in the list was made, changed or deleted, at most four a second. They do not say what: read the list again. The stream ends within a minute: connect again, and read again, for what happened in between is not told. Records of databases and processes of flows have streams of their own.",
        access: { signedIn: "the list asks for its own privilege" },
        query: { path: "of the list: `/core/prompts`" },
        asks: { path: "/core/prompts" },
        answers: { 200: answer.text("text/event-stream") },
        responses: {
          200: 'event: changed\ndata: {"path":"/core/prompts"}\n\n',
          403: { error: "you may not read this list" },
          422: { path: ["must be one of /core/prompts, …"] },
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      ({ caller, query, request }) => {
        const path = query.get("path") ?? "";
        if (!paths().includes(path)) throw invalid({ path: [`must be one of ${paths().join(", ")}`] });
        if (!mayFollow(path, caller)) throw forbidden("you may not read this list");
        if (request.method === "HEAD") return new Response(null, { headers });
        const asked = { accountId: caller.account.id, path, owner: `token:${caller.tokenId}`, signal: request.signal };
        return new Response(changes.follow(asked), { headers });
      },
    ),
  ];
}

const Row = answer.object("FoundByName", {
  path: Type.String({ description: "of the list that it is in" }),
  id: Type.Union([Type.String(), Type.Integer()]),
  name: Type.String(),
  code: Type.Union([Type.String(), Type.Null()]),
});
const maxChars = 200;

/** One search over everything that has a name. `routes`: those of all plugins. */
export function searchRoutes(
  routes: () => readonly Route[],
  databases: Pick<JsonDatabases, "findEverywhere">,
): Route[] {
  return [
    route(
      "GET",
      "/core/search",
      {
        summary: "Find anything by its name or code",
        description: `In every list that the token may read: at most ${most.ofList} of each and ${most.ofAll} in all, the best first. Records of databases are found by their title and indexed texts: the newest few of the twenty databases whose records are the newest.`,
        access: { signedIn: "each list asks for its own privilege" },
        query: { q: `the words, 1 to ${maxChars} characters` },
        asks: { q: "greeting" },
        answers: { 200: answer.list(Row) },
        responses: {
          200: [
            { path: "/core/prompts", id: "019a9c1e-0000-7000-8000-000000000001", name: "Greeting", code: "greeting" },
          ],
          422: { q: ["is required"] },
        },
      },
      async (input) => {
        const words = input.query.get("q")?.trim() ?? "";
        if (words === "") throw invalid({ q: ["is required"] });
        if (words.length > maxChars) throw invalid({ q: [`may have at most ${maxChars} characters`] });
        if (words.includes("\0")) throw invalid({ q: ["has a character that cannot be searched for"] });
        const [records, ...found] = await Promise.all([
          databases.findEverywhere(input.caller, words),
          ...searchedLists(routes(), input.caller).map((list) => ask(list, input, words)),
        ]);
        return ok(ranked([...found.flat(), ...records.map(recordResult)], words));
      },
    ),
  ];
}

/** The list's own handler decides what this caller may see. */
async function ask(
  list: SearchedList,
  input: Omit<RequestInput, "params" | "body">,
  words: string,
): Promise<SearchResult[]> {
  const asked = list.searches ? { q: words, limit: `${most.ofList}` } : { limit: `${readMost}` };
  const reply = await list.route.run({ ...input, params: {}, body: undefined, query: new URLSearchParams(asked) });
  return reply instanceof Response ? [] : foundIn(list, reply.body, words);
}

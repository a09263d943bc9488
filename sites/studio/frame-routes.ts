/** What the frame of the Studio shows, in one request: the person, the account, and the things of the menu by name. */
import { answer, field, isObject, ok, route, Type } from "platform";
import type { BaseContext, Look, RequestInput, Route } from "platform";
import { brandSettings, standardBrand, type Accounts } from "../../plugins/accounts/api.ts";
import { doneIn, failingFlow, keyOf, noticesOf, watched } from "./app/home/attention.ts";
import { mayRead } from "./search.ts";

/** How many things of a kind a menu shows, and how many failed runs are counted. */
export const mostThings = 200;
const mostRuns = 100;
const mostUnread = 5;
const mostAnswers = 12;
const mostCharacters = 1_000_000;
const failedWithinMs = 7 * 24 * 3_600_000;

const kinds = [
  ["table", "/core/dbs"],
  ["app", "/core/apps"],
  ["flow", "/connect/flows"],
  ["site", "/cms/sites"],
] as const;
type Kind = (typeof kinds)[number][0];

/** What the Studio keeps for a person and needs at once. */
const preferences = ["studio.menu", "studio.dashboard", "studio.setup"] as const;

const Thing = answer.object("FrameThing", {
  kind: field.oneOf(["table", "app", "flow", "site"]),
  id: Type.Union([Type.String(), Type.Integer()]),
  name: Type.String(),
  code: Type.String(),
  icon: field.nullable(Type.String()),
  color: field.nullable(Type.String()),
  failed: Type.Integer({
    description: "runs of the flow that failed in the last seven days, at most 100 of all flows",
  }),
});

const Frame = answer.object("Frame", {
  me: answer.json(),
  brand: answer.object("Brand", {
    name: Type.String(),
    logo: field.nullable(Type.String({ description: "address of the picture" })),
    hue: Type.Number(),
    chroma: Type.Number(),
  }),
  things: answer.list(Thing),
  unread: Type.Integer({
    description: "in the inbox: mentions, and what fails or ends soon, that one is not done with",
  }),
  preferences: answer.json(),
  modules: answer.list(answer.json()),
  pages: answer.list(answer.json()),
});

interface FrameContext {
  readonly accounts: Pick<Accounts, "settingsOf">;
  readonly routes: () => readonly Route[];
  readonly now: BaseContext["now"];
}

const Notice = answer.object("HomeNotice", {
  path: Type.String({ description: "of the list that it is in" }),
  of: field.nullable(Type.String({ description: "what the list is of" })),
  id: Type.String(),
  name: Type.String(),
  trouble: Type.String(),
  at: field.nullable(Type.String()),
  detail: Type.String(),
  count: Type.Integer({ description: "how many of the list have this very trouble" }),
});

const Home = answer.object("Home", {
  notices: answer.list(Notice),
  steps: answer.object("HomeSteps", {
    brand: field.nullable(
      Type.Boolean({ description: "whether the account has a name, a logo or a colour of its own" }),
    ),
    people: field.nullable(Type.Boolean({ description: "whether there is more than one person" })),
    mail: field.nullable(Type.Boolean({ description: "whether mails can be sent" })),
  }),
  tiles: answer.list(answer.json()),
  inbox: answer.list(answer.json()),
});

const Answers = answer.object("StudioAnswers", {
  answers: answer.list(
    field.nullable(
      answer.object("StudioAnswer", {
        headers: answer.json(),
        body: Type.String({ description: "as the request itself is answered" }),
      }),
    ),
  ),
});

export function frameRoutes(ctx: FrameContext): Route[] {
  return [
    route(
      "GET",
      "/studio/-/answers",
      {
        summary: "Several answers in one, with which a page of the user interface begins",
        description: `In the order of the paths, of which ${mostAnswers} are read; null for what is not answered with 200 or is longer than ${mostCharacters} characters: ask for it by itself.`,
        access: { signedIn: "each path asks for its own privilege" },
        query: { path: "address of a GET, with its query; several times" },
        asks: { path: "/core/tiles.json?limit=1" },
        answers: { 200: Answers },
        responses: { 200: { answers: [{ headers: { "x-total-count": "0" }, body: "[]" }] } },
      },
      async (input) => {
        const paths = input.query.getAll("path").slice(0, mostAnswers);
        const answers = await Promise.all(paths.map(async (path) => answerAt(ctx.routes(), input, path)));
        return packed(input.request, JSON.stringify({ answers }));
      },
    ),
    route(
      "GET",
      "/studio/-/home",
      {
        summary: "What the first page of the user interface shows",
        description: "Each part as far as one may read it; a step is null where one may not take it.",
        access: { signedIn: "each part asks for its own privilege" },
        answers: { 200: Home },
        responses: {
          200: { notices: [], steps: { brand: false, people: true, mail: null }, tiles: [], inbox: [] },
        },
      },
      async (input) => {
        const ask = reader(ctx.routes(), input);
        const [tiles, inbox, steps, notices] = await Promise.all([
          ask("/core/tiles", { limit: "1000" }),
          ask("/core/inbox", { limit: "200" }),
          stepsOf(ctx, ask, input),
          allNotices(ctx, ask),
        ]);
        const unread = rowsIn(inbox).filter((one) => one["read_at"] === null);
        return ok({ notices, steps, tiles: rowsIn(tiles), inbox: unread.slice(0, mostUnread) });
      },
    ),
    route(
      "GET",
      "/studio/-/frame",
      {
        summary: "What the frame of the user interface shows",
        description: `Who is signed in, the account's name, logo and colour, and the first ${mostThings} tables, apps, flows and sites that one may see.`,
        access: { signedIn: "each part asks for its own privilege" },
        answers: { 200: Frame },
        responses: { 200: example },
      },
      async (input) => {
        const ask = reader(ctx.routes(), input);
        const [me, pages, modules, kept, inbox, notices, brand, things] = await Promise.all([
          ask("/account/me"),
          ask("/studio/-/pages"),
          ask("/core/modules"),
          ask("/account/me/preferences"),
          ask("/core/inbox", { limit: "200" }),
          allNotices(ctx, ask),
          brandOf(ctx, ask, input),
          thingsOf(ctx, ask, input),
        ]);
        const done = new Set(doneIn(isObject(kept) ? kept["studio.inbox"] : undefined));
        const unread = rowsIn(inbox).filter((one) => one["read_at"] === null && one["kind"] !== "failure");
        const failing = rowsIn(inbox).filter((one) => one["kind"] === "failure");
        return ok({
          me,
          brand,
          things,
          unread:
            unread.length + [...notices, ...failing.map(failingFlow)].filter((one) => !done.has(keyOf(one))).length,
          preferences: Object.fromEntries(
            preferences.flatMap((name) => (isObject(kept) && name in kept ? [[name, kept[name]]] : [])),
          ),
          modules: rowsIn(modules),
          pages: rowsIn(pages),
        });
      },
    ),
  ];
}

/** Records repeat their names: a slow line takes a tenth of them. */
function packed({ headers }: Request, json: string): Response {
  const own = { "content-type": "application/json; charset=utf-8", vary: "accept-encoding" };
  if (!headers.get("accept-encoding")?.includes("gzip")) return new Response(json, { headers: own });
  const body = new Blob([json]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(body, { headers: { ...own, "content-encoding": "gzip" } });
}

type Ask = (path: string, query?: Record<string, string>, params?: Record<string, string>) => Promise<unknown>;
async function allNotices(ctx: FrameContext, ask: Ask) {
  const lists = Object.entries(watched).map(async ([path, query]) => {
    const rows = await ask(path, Object.fromEntries(new URLSearchParams(query)));
    return noticesOf(path, rows, ctx.now().getTime());
  });
  return (await Promise.all(lists)).flat().map((one) => ({ ...one, of: one.of ?? null, at: one.at ?? null }));
}

type SignedIn = Omit<RequestInput, "caller" | "params" | "query" | "body"> & {
  readonly caller: NonNullable<RequestInput["caller"]>;
};

/** What another route answers this caller; undefined where they may not read it. */
function reader(routes: readonly Route[], input: SignedIn): Ask {
  return async (path, query = {}, params = {}) => {
    const found = routes.find((one) => one.method === "GET" && one.path === path);
    if (!found || !mayRead(found, input.caller)) return undefined;
    const reply = await found.run({ ...input, params, body: undefined, query: new URLSearchParams(query) });
    return reply instanceof Response || reply.status !== 200 ? undefined : JSON.parse(reply.body ?? "null");
  };
}

/** Of the headers those that a page reads. */
const toldHeaders = ["etag", "x-next-cursor", "x-total-count"];

async function answerAt(routes: readonly Route[], input: SignedIn, address: string) {
  const found = URL.canParse(address, inProcess) ? routeAt(routes, new URL(address, inProcess)) : undefined;
  if (!found || found.route.spec.exports || !isJson(found.route) || !mayAsk(found.route, input.caller)) return null;
  const { route: asked, params } = found;
  const answered = async () =>
    asked.run({ ...input, params, body: undefined, query: new URL(address, inProcess).searchParams });
  const reply = await answered().catch(() => undefined);
  if (!reply || reply instanceof Response || reply.status !== 200 || reply.secret) return null;
  if ((reply.body?.length ?? 0) > mostCharacters) return null;
  const headers = toldHeaders.flatMap((name) => (name in reply.headers ? [[name, reply.headers[name]]] : []));
  return { headers: Object.fromEntries(headers), body: reply.body ?? "null" };
}

const inProcess = "http://in.process";

/** A stream would go on unread. */
const isJson = ({ spec: { answers } }: Route) =>
  [answers?.[200] ?? []].flat().every(({ contentMediaType }) => contentMediaType === undefined);

/** The route of a GET; a literal part comes before a parameter. */
function routeAt(routes: readonly Route[], { pathname }: URL) {
  const parts = pathname
    .replace(/\.json$/, "")
    .split("/")
    .map(decoded);
  const found = routes.flatMap((one) => {
    const own = one.path.split("/");
    if (one.method !== "GET" || own.length !== parts.length) return [];
    const names = own.flatMap((part, at) => (part.startsWith(":") ? [[part.slice(1), parts[at] ?? ""]] : []));
    const fits = own.every((part, at) => part === parts[at] || /^:\w+$/.test(part));
    return fits ? [{ route: one, params: Object.fromEntries(names) }] : [];
  });
  return found.toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}

/** As it stands where it is no percent-encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** As the server admits a request: some privileges can be done without, of which the route itself asks. */
function mayAsk({ spec: { access } }: Route, { privileges, narrowedTo }: SignedIn["caller"]): boolean {
  if (!("privilege" in access)) return "signedIn" in access;
  const { privilege, or } = access;
  return privileges.has(privilege) || (or !== undefined && (narrowedTo.length === 0 || narrowedTo.includes(privilege)));
}

async function brandOf({ accounts }: FrameContext, ask: Ask, { account }: SignedIn) {
  const { logo: id, hue, chroma } = await accounts.settingsOf(account.id, brandSettings);
  const file = id === "" ? null : await ask("/core/media/:id", {}, { id }).catch(() => null); // it is gone
  const url = isObject(file) && typeof file["url"] === "string" ? file["url"] : null;
  // Who may not look at files sees it as people do before they sign in.
  const logo = file === undefined ? `/media/${id}/logo` : url;
  return { name: account.name, logo, hue, chroma };
}

/** What a new account does first; null for what is somebody else's to do. */
async function stepsOf({ accounts }: FrameContext, ask: Ask, { account, caller }: SignedIn) {
  const [people, mail, { name, logo, hue, chroma }] = await Promise.all([
    ask("/account/users", { limit: "2" }),
    ask("/core/mail_server"),
    accounts.settingsOf(account.id, brandSettings),
  ]);
  const isOwn = name !== "" || logo !== "" || hue !== standardBrand.hue || chroma !== standardBrand.chroma;
  return {
    brand: caller.privileges.has("settings") ? isOwn : null,
    people: people === undefined ? null : rowsIn(people).length > 1,
    mail: isObject(mail) ? mail["source"] === "account" || mail["source"] === "server" : null,
  };
}

async function thingsOf({ routes, now }: FrameContext, ask: Ask, input: SignedIn) {
  const from = new Date(now().getTime() - failedWithinMs).toISOString();
  const runs = { status: "error", from, steps: "false", count: "false", limit: `${mostRuns}` };
  const [failed, ...lists] = await Promise.all([
    ask("/connect/flow_processes", runs),
    ...kinds.map(async ([kind, path]) => {
      const list = routes().find((one) => one.method === "GET" && one.path === path);
      const rows = list?.looks
        ? await list.looks(input, mostThings)
        : rowsIn(await ask(path, { limit: `${mostThings}` }));
      return rows.map((row) => lookOf(kind, row));
    }),
  ]);
  const byFlow = Map.groupBy(rowsIn(failed), (run) => run["flow_code"]);
  return lists.flat().map((one) => ({ ...one, failed: one.kind === "flow" ? (byFlow.get(one.code)?.length ?? 0) : 0 }));
}

/** Columns of a row of any of the lists. */
function lookOf(kind: Kind, row: { readonly [K in keyof Look]?: unknown }) {
  const text = (name: keyof Look) => (typeof row[name] === "string" ? row[name] : "");
  const id = typeof row.id === "number" ? row.id : text("id");
  return {
    kind,
    id,
    name: text("name") || text("code"),
    code: text("code"),
    icon: text("icon") || null,
    color: text("color") || null,
  };
}

function rowsIn(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(json) ? json.filter(isObject) : [];
}

const example = {
  me: { id: 1, name: "Ann", login: "ann", role: "admin", effective_privileges: ["dbs"] },
  brand: { name: "Main", logo: null, hue: 178, chroma: 0.078 },
  things: [
    {
      kind: "table",
      id: "019a9c1e-0000-7000-8000-000000000001",
      name: "Orders",
      code: "orders",
      icon: "cart",
      color: "orange",
      failed: 0,
    },
  ],
  unread: 0,
  preferences: {},
  modules: [],
  pages: [],
};

/** How each route that may carry records is called, or why it carries none. The matrix fails for a route without either. */
import { canaries, type Everything, type World } from "./world.ts";

export interface Call {
  readonly path: (world: World, all: Everything) => string;
  /** It asks by the hidden field: who does not see that field finds nothing. */
  readonly byHidden?: true;
  /** Others than those who read every record may have less of it than they see elsewhere. */
  readonly whole?: true;
  /** Not of records, but it must not tell of them. */
  readonly bare?: true;
}

const byHidden = { byHidden: true } as const;
const bare = { bare: true } as const;
const whole = { whole: true } as const;

type Part = Omit<Call, "path">;
const over = (base: Call["path"], queries: readonly (string | readonly [string, Part])[]): Call[] =>
  queries.map((query) => {
    const [text, part] = typeof query === "string" ? [query, {}] : query;
    return { ...part, path: (world, all) => `${base(world, all)}${text === "" ? "" : "?"}${text}` };
  });

const deals = (rest: string) => (world: World) => `/core/dbs/${world.deals}${rest}`;
const hidden = "secret*";

const filters: readonly (string | readonly [string, Part])[] = [
  "",
  ["sort=hush", byHidden],
  ["sort=-hush&count=true&limit=1", { ...byHidden, ...whole }],
  [`filter[hush]=${hidden}`, byHidden],
  ["filter[hush][ne]=x", byHidden],
  ["filter[hush][null]=true", { ...byHidden, ...bare }],
  ["filter[hush_sum][gt]=0", byHidden],
  ["any[0][hush]=*&any[1][stage]=open", byHidden],
  [`q=${hidden}`, byHidden],
  ["filter[amount][gt]=7&sort=-amount&limit=2&count=true", whole],
  `filter[title]=${canaries.closed}*&count=true`,
  "q=canary&search_in=title&sort=-title",
  ["sort=-updated_at&offset=1", whole],
  "expand=firm",
  "filter[firm.name]=Acme&sort=amount",
];
const list = filters.filter((one) => typeof one !== "string" || !one.includes("search_in"));
const notes: readonly (string | readonly [string, Part])[] = [
  "expand=of,of.firm",
  [`filter[of.hush]=${hidden}&expand=of`, byHidden],
  `filter[of.title]=${canaries.closed}*&expand=of`,
  "filter[of.stage]=open&expand=of",
];

export const reads: Readonly<Record<string, readonly Call[]>> = {
  "GET /core/dbs": [{ path: () => "/core/dbs?limit=100", ...bare }],
  "GET /core/dbs/:id": [{ path: deals(""), ...bare }],
  "GET /core/db_types.ts": [{ path: () => "/core/db_types.ts?deals_0", ...bare }],
  "GET /core/dbs/:db_id/used_by": [{ path: () => "/core/dbs/deals_0/used_by", ...bare }],
  "GET /core/dbs/:db_id/views": [{ path: deals("/views"), ...bare }],
  "GET /core/dbs/:db_id/views/:id": [{ path: (world) => deals(`/views/${world.ids.view}`)(world), ...bare }],
  "GET /core/dbs/:db_id/records": [
    ...over(deals("/records"), list),
    ...over(({ notes: code }) => `/core/dbs/${code}/records`, notes),
    { path: ({ firms }) => `/core/dbs/${firms}/records`, ...bare },
  ],
  "GET /core/dbs/:db_id/search": [
    ...over(deals("/search"), [
      ...filters,
      ["fields=title,hush", {}],
      [`q=${hidden}&search_in=hush`, byHidden],
      ["count=true&limit=1&sort=title", whole],
    ]),
    {
      path: (world) => deals(`/search?sort=hush&after=${encodeURIComponent(world.ids.cursor)}`)(world),
      ...byHidden,
      ...whole,
    },
    ...over(({ notes: code }) => `/core/dbs/${code}/search`, notes),
  ],
  "GET /core/dbs/:db_id/records/:id": [
    { path: (world) => deals(`/records/${world.ids.open}?expand=firm`)(world) },
    { path: (world) => deals(`/records/${world.ids.closed}`)(world) },
    { path: ({ notes: code, ids }) => `/core/dbs/${code}/records/${ids.note}?expand=of` },
    { path: ({ firms, ids }) => `/core/dbs/${firms}/records/${ids.firm}`, ...bare },
  ],
  "GET /core/dbs/:db_id/records/:id/linked": [
    { path: ({ firms, ids }) => `/core/dbs/${firms}/records/${ids.firm}/linked` },
    { path: (world) => deals(`/records/${world.ids.closed}/linked`)(world), ...bare },
  ],
  "GET /core/dbs/:db_id/records/:id/files/:file_id": [
    { path: (world) => deals(`/records/${world.ids.open}/files/${world.ids.open}`)(world), ...bare },
    { path: (world) => deals(`/records/${world.ids.closed}/files/${world.ids.closed}`)(world), ...bare },
  ],
  "GET /core/dbs/:db_id/records/:id/people": [
    { path: (world) => deals(`/records/${world.ids.open}/people`)(world), ...bare },
    { path: (world) => deals(`/records/${world.ids.closed}/people`)(world), ...bare },
  ],
  "GET /core/dbs/:db_id/people": [{ path: deals("/people"), ...bare }],
  "GET /core/dbs/:db_id/records/:id/history": [
    { path: (world) => deals(`/records/${world.ids.open}/history`)(world) },
    { path: (world) => deals(`/records/${world.ids.closed}/history`)(world) },
    { path: (world) => deals(`/records/${world.ids.trashedClosed}/history`)(world), ...bare },
  ],
  "GET /core/dbs/:db_id/history": [{ path: deals("/history"), ...whole }],
  "GET /core/dbs/:db_id/deleted_fields": [{ path: deals("/deleted_fields"), ...bare }],
  "GET /core/dbs/:db_id/trash": [{ path: deals("/trash") }],
  "GET /core/dbs/:db_id/records/:id/comments": [
    { path: (world) => deals(`/records/${world.ids.open}/comments`)(world) },
    { path: (world) => deals(`/records/${world.ids.closed}/comments`)(world) },
  ],
  "GET /core/dbs/:db_id/records/:id/comments/:comment_id": [
    { path: (world) => deals(`/records/${world.ids.open}/comments/${world.ids.comment}`)(world) },
  ],
  "GET /core/inbox": [{ path: () => "/core/inbox?limit=200", ...whole }],
  "GET /core/tasks": [{ path: () => "/core/tasks?limit=200", ...bare }],
  "GET /core/dbs/:db_id/tasks": [{ path: deals("/tasks"), ...bare }],
  "GET /core/dbs/:db_id/tasks/:task_id": [{ path: (world) => deals(`/tasks/${world.ids.task}`)(world), ...bare }],
  "GET /core/dbs/:db_id/tasks/:task_id/errors": [
    { path: (world) => deals(`/tasks/${world.ids.task}/errors`)(world), ...bare },
  ],
  "GET /core/dbs/:db_id/indexes": [{ path: deals("/indexes"), ...bare }],
  "GET /core/dbs/:db_id/export": [
    ...["json", "ndjson", "csv", "xlsx"].flatMap((format) =>
      over(deals("/export"), [
        `format=${format}&sort=-title`,
        [`format=${format}&sort=hush`, byHidden],
        [`format=${format}&filter[hush]=${hidden}`, byHidden],
        `format=${format}&filter[firm.name]=Acme`,
      ]),
    ),
    ...over(deals("/export"), [
      [`format=csv&columns=title,hush`, {}],
      [`format=xlsx&columns=hush&labels=true`, {}],
    ]),
  ],
  "GET /core/dbs/:db_id/aggregate": over(deals("/aggregate"), [
    ["", bare],
    ["sum=hush_sum", { ...byHidden, ...bare }],
    ["group_by=hush", byHidden],
    ["min=hush&max=title", { ...byHidden, ...whole }],
    "group_by=title&sum=amount&sort=-count",
    [`filter[hush]=${hidden}&group_by=title`, byHidden],
    ["group_by=stage&avg=amount&filter[firm.name]=Acme", bare],
  ]),
  "GET /core/activity": [{ path: () => "/core/activity?limit=500", ...whole, ...bare }],
  "GET /core/activity/export": [{ path: () => "/core/activity/export", ...whole, ...bare }],
  "GET /core/search": [{ path: () => "/core/search?q=deals_0", ...bare }],
  "GET /account/webhooks/:id/deliveries": [{ path: (_, { hook }) => `/account/webhooks/${hook}/deliveries`, ...bare }],
  "GET /account/webhooks/:id/deliveries/:delivery_id": [
    { path: (_, { hook, delivery }) => `/account/webhooks/${hook}/deliveries/${delivery}`, ...whole },
  ],
  "GET /account/webhooks/:id/preview": [{ path: (_, { hook }) => `/account/webhooks/${hook}/preview`, ...bare }],
  "GET /connect/flow_processes": [{ path: () => "/connect/flow_processes?steps=true&include=inputs", ...whole }],
  "GET /connect/flow_processes/:id": [
    { path: (_, { process }) => `/connect/flow_processes/${process}?include=inputs`, ...whole },
  ],
  "GET /connect/flow_steps": [{ path: () => "/connect/flow_steps", ...bare }],
};

/** Of the routes of databases, and of those that may carry records: why they are not called. Beginnings of their names. */
export const excused: Readonly<Record<string, string>> = {
  "GET /core/dbs/:db_id/events": "followed in a test of its own",
  "PUT /core/dbs/:db_id/records/:id/present": "live/events.test.ts: who has a record open, of those who may read it",
  "POST /mcp": "called in a test of its own",
  "POST /core/dbs": "makes an empty one",
  "POST /core/dbs/from_file": "makes one of the caller's own file",
  "GET /core/db_trash": "databases.test.ts: names of databases, of those who may manage them",
  "POST /core/db_trash/:id/restore": "the same",
  "GET /core/db/:db_code/": "a program: it shows what whoever manages the database has opened to strangers",
  "POST /core/db/:db_code/:method_name": "the same",
  "PATCH /core/inbox/:id": "shows a notice of the inbox, by the same function",
  "POST /core/inbox/read": "says nothing",
  "POST /core/inbox/:id/": "a question of a flow, which says what its author wrote",
};

/** Everything else, by the beginnings of names: no record gets there but by a program that somebody made for it. */
export const apart: readonly (readonly [RegExp, string])[] = [
  [/^\w+ \/account\/(?!webhooks)/, "people, tokens, settings and crons"],
  [/^\w+ \/account\/webhooks$/, "where events go"],
  [/^(POST|PATCH|DELETE) \/account\/webhooks/, "they say a status, and send to the address of whoever made them"],
  [/^\w+ \/asks\//, "a question of a flow, which says what its author wrote"],
  [/^PUT \/connect\/flows\/:id\/triggers/, "what starts a flow"],
  [/^GET \/account\/webhooks\/(:id|source_types|health)$/, "where events go"],
  [/^\w+ \/(login|logout|csp-report|\.well-known|forgot_password|set_password|confirm_email|llms|oauth)/, "signing in"],
  [
    /^\w+ \/core\/(tokens|mails|mail_server|mail_templates|media|media_folders|backups|certificates|probe)\b/,
    "no records",
  ],
  [/^\w+ \/core\/(prompts|prompt)\b/, "instructions; a chat runs a flow"],
  [/^\w+ \/core\/(apps|modules|tiles|views)\b/, "apps, which ask as their viewer"],
  [/^GET \/core\/(activity\/:id|events)$/, "one entry of the list, and that a list has changed"],
  [/^\w+ \/(a|_rt|w|media|studio)\b/, "pages and files, which ask as their viewer"],
  [/^\w+ \/cms\//, "sites: what they show of records, public methods show"],
  [/^\w+ \/connect\/connectors/, "other servers"],
  [/^\w+ \/(connect\/)?hooks\b/, "messages of other services"],
  [/^POST \/connect\/flow_steps\/try$/, "sends a request or a mail that the caller writes"],
  [/^(GET|POST|PATCH|DELETE) \/connect\/flows/, "programs: whoever saves one must reach what it uses"],
  [/^(POST|GET) \/connect\/flow_processes\/(events|:id\/)/, "heads of processes without data"],
];

/**
 * The examples of `/docs`, run as they stand there. What one of them makes, the others read, change and delete.
 *
 *     const ran = await runExamples(operationsOf(page), { client: app, receiver, folder });
 *     expect(ran.filter((one) => !isAsExpected(one))).toEqual([]);
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../runtime/operations/authors/test-client.ts";
import { adminToken, eventually } from "./harness.ts";
import type { Receiver } from "./receiver.ts";

/** The administrator's. */
export const examplePassword = "a long pass phrase";

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly curl: string;
  readonly typescript: string;
}

export interface Ran extends Operation {
  readonly status: string;
  readonly body: string;
}

export interface Place {
  readonly client: Client;
  readonly receiver: Receiver;
  /** For what the commands write. */
  readonly folder: string;
  /** A token of the automatic sign-in, if its example is to succeed. */
  readonly webToken?: string | undefined;
}

export function operationsOf(page: string): Operation[] {
  return page
    .split('<details class="operation"')
    .slice(1)
    .map((part) => ({
      method: /data-method="(\w+)"/.exec(part)?.[1] ?? "",
      path: /data-path="([^"]+)"/.exec(part)?.[1] ?? "",
      curl: exampleOf(part, "curl"),
      typescript: exampleOf(part, "TypeScript"),
    }));
}

function exampleOf(part: string, name: string): string {
  const [, rest = ""] = part.split(`<pre class="example" data-of="${name}">`);
  const [example = ""] = rest.split("</pre>");
  return example
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

export const nameOf = ({ method, path }: Pick<Operation, "method" | "path">) => `${method} ${path}`;

/** The others need what tests/docs-examples.test.ts makes: a token for one sign-in, and a plugin's setting. */
export const isForAnyServer = (one: Operation) => !/auto_login|PATCH .account.settings/.test(nameOf(one));

/** Things are made first, and deleted last. */
export async function runExamples(operations: readonly Operation[], place: Place): Promise<Ran[]> {
  const makes = ({ method, path }: Operation) => method === "POST" && !path.includes("{");
  const made = await shell(operations.filter(makes), { variables: {}, ids: {} }, place);
  const things = await others(new Map(made.map(({ path, body }) => [path.replace(".json", ""), body])), place);
  // What is switched off or renamed by an example is needed as it was by others; what is deleted, is deleted from within.
  const rest = operations.filter((one) => !makes(one));
  const changes = rest.filter(({ method }) => method === "PATCH");
  const ends = rest.filter(({ method }) => method === "DELETE").toReversed();
  const reads = rest.filter((one) => !changes.includes(one) && !ends.includes(one));
  return [...made, ...(await shell([...reads, ...changes, ...ends], things, place))];
}

/** Not all can succeed on a server that is alone with this test. */
export function isAsExpected({ path, status }: Ran): boolean {
  // There is no mail server here, so there are no mails and no invitations; no host of the example's name; and nobody
  // else who mentions one.
  const missing =
    /^\/(core\/mails\/\{id\}|core\/mail_templates\/\{id\}\/test|core\/mail_server\/test|account\/invitations\b|account\/password_resets|core\/backups\/\{id\}|core\/certificates\/\{host\}|core\/inbox\/\{id\}|asks\/\{token\}|forgot_password|set_password|confirm_email)/;
  // A token is no fresh session, so it makes no passkey either; and nobody waits for the example's second step.
  return (
    /^[23]\d\d$/.test(status) ||
    (status === "403" && /^\/account\/me\/(totp|recovery_codes|passkeys)/.test(path)) ||
    (/^4/.test(status) && /second_factor|session.passkey/.test(path)) ||
    path.startsWith("/account/me/passkeys/{id}") ||
    (/^4(04|22)$/.test(status) && missing.test(path)) ||
    // No provider answers here, and so nobody has signed in by one.
    (/^4(04|22)$/.test(status) && /^\/login\/with\/|sign_in_providers\/\{id\}\/(test|identities\/)/.test(path)) ||
    // Nobody has connected an app here.
    (/^40[01]$/.test(status) && path.startsWith("/oauth/")) ||
    // No model answers here.
    (status === "422" && path.startsWith("/core/prompts/{id}/chat")) ||
    // An example has no proof that it is the doctor.
    (status === "404" && path.startsWith("/core/probe")) ||
    // The examples have none of tus' headers.
    (/^4(04|12)$/.test(status) && path.startsWith("/core/media/uploads")) ||
    // The file of the examples is a text.
    (status === "422" && path.startsWith("/media/{id}/w/"))
  );
}

interface Things {
  /** By the beginnings of paths: `{ "/core/prompts/": { id: "…" } }` */
  readonly variables: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What there is instead of the ids and times that the examples name. */
  readonly ids: Readonly<Record<string, string>>;
}

/** What the examples that make things leave out: it needs something that is there already. */
async function others(made: ReadonlyMap<string, string>, place: Place): Promise<Things> {
  const { client, receiver, webToken = "" } = place;
  const given = (path: string) => JSON.parse(made.get(path) ?? "null");
  const own = [...made].flatMap(([path, body]) =>
    body.startsWith('{"id"') ? [[`${path}/`, { id: `${JSON.parse(body).id}` }]] : [],
  );
  const [db, hook, preview, media] = ["/core/dbs", "/account/webhooks", "/core/apps/preview", "/core/media"].map(given);
  const draft = given("/cms/pages/preview");
  const send = (method: string) => async (path: string, body?: unknown) => {
    const answer = await client.request(method, path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.json;
  };
  const [post, patch] = [send("POST"), send("PATCH")];
  const fields = { ...db.schema.fields, attached: { type: "string", format: "file" } };
  const schema = { ...db.schema, fields, history: true };
  await patch(`/core/dbs/${db.id}.json`, { db: { schema, public_methods: { list: true, create: true } } });
  const record = async () => post(`/core/dbs/${db.id}/records.json`, { record: { data: { email: "b@b.pl" } } });
  const task = await post(`/core/dbs/${db.id}/bulk.json`, { op: "update", data: { age: 1 }, all: true });
  const status = async () => (await client.get(`/core/dbs/${db.id}/tasks/${task.id}.json`)).json.status;
  await eventually(async () => (await status()) === "finished", "the end of the task");
  await post(`/core/dbs/${db.id}/import`, [{ email: "c@c.pl" }]);
  const [imported] = (await client.get(`/core/dbs/${db.id}/tasks.json?kind=import`)).json;
  const [first, second, third] = [await record(), await record(), await record()];
  const [restored, deleted] = [await record(), await record()];
  for (const { id } of [restored, deleted]) await send("DELETE")(`/core/dbs/${db.id}/records/${id}.json`);
  const view = await post(`/core/dbs/${db.id}/views.json`, { view: { name: "All" } });
  await patch(`/core/dbs/${db.id}/records/${third.id}.json`, { record: { data: { attached: media.id } } });
  const comment = await post(`/core/dbs/${db.id}/records/${third.id}/comments.json`, { comment: { text: "Yes" } });
  const gone = await post("/core/dbs.json", { db: { name: "Deleted" } });
  await send("DELETE")(`/core/dbs/${gone.id}.json`);
  const connector = given("/connect/connectors").id;
  await patch(`/connect/connectors/${connector}.json`, { connector: { url: receiver.url, secret_token: "0a1b" } });
  receiver.answer = () => Response.json({ main: { temp: 24 } });
  await patch(`/account/webhooks/${hook.id}.json`, { webhook: { url: receiver.url, api_token: null } });
  const delivery = await post(`/account/webhooks/${hook.id}/test.json`);
  const flow = { name: "Waits", code: "waits", fields: { program: [{ type: "wait", seconds: 3600 }] } };
  await post("/connect/flows.json", { flow });
  await post("/connect/flows.json", { flow: { ...flow, code: "started" } });
  const process = async () => (await post("/connect/flows/waits/run.json?wait=0", {})).id;
  const failed = await process();
  await post(`/connect/flow_processes/${failed}/cancel.json`);
  const open = { name: "Open", flow_code: "waits", scheme: "none", verify_token: "a word" };
  const incoming = await post("/connect/hooks.json", { hook: open });
  const arrival = await post(`/hooks/${incoming.code}`, { order: 17 });
  const page = (await client.get("/a/counter")).text;
  const home = { name: "Home", code: "home", path: "", locale: "pl", site_code: "acme", content: "<h1>Acme</h1>" };
  await post("/cms/pages.json", { page: home });
  const pageToken = /"token":\{"value":"([^"]+)"/.exec(page)?.[1] ?? "";
  const action = await post("/core/apps/counter/action/weather", { city: "Kraków" });
  const session = (await client.get("/account/me/sessions.json")).json[0];
  const ids = {
    core_0a1b2c3d4e5f: webToken,
    "019a9c1e-0000-7000-8000-000000000002": first.id,
    "2026-01-31T10:00:00.000Z": first.updated_at,
    "019a9c1e-0000-7000-8000-000000000003": second.id,
    "019a9c1e-0000-7000-8000-000000000004": action.flow_process_id,
  };
  const variables = {
    ...Object.fromEntries(own),
    "/core/prompts/": { id: given("/core/prompts").id, code: "apps_api", n: "1" },
    "/core/prompt/": { code: "workinfo_new" },
    "/core/dbs/": { id: db.id, db_id: db.id, task_id: task.id },
    "POST /core/dbs/{db_id}/tasks/{task_id}/undo": { task_id: imported.id },
    "/core/dbs/{db_id}/records/": { id: third.id, comment_id: comment.id, file_id: media.id, n: "1" },
    "/core/dbs/{db_id}/views/": { id: view.id },
    "/core/db_trash/": { id: gone.id },
    "/core/dbs/{db_id}/trash/": { id: deleted.id },
    "POST /core/dbs/{db_id}/trash/": { id: restored.id },
    "/core/db/": { db_code: db.code, method_name: "list" },
    "POST /core/db/": { method_name: "create" },
    "/connect/connectors/": { id: connector, code: "weather", method_name: "current" },
    "/connect/flows/": { id: given("/connect/flows").id, code: "weather-advice" },
    "PUT /connect/flows/{id}/triggers": { id: "started" },
    "/connect/flow_processes/": { id: failed },
    "POST /connect/flow_processes/{id}/cancel": { id: await process() },
    "/connect/hooks/": { id: `${incoming.id}`, arrival_id: arrival.id },
    "/hooks/": { code: incoming.code },
    "/account/webhooks/": { id: `${hook.id}`, delivery_id: `${delivery.id}` },
    "/account/me/sessions/": { id: `${session.id}` },
    "/core/apps/": { id: given("/core/apps").id, n: "1", action_name: "weather", key: "theme" },
    "POST /core/apps/{id}/token": { TOKEN: pageToken },
    "/core/modules/": { module: "crm" },
    "/a/": {
      url_code: "counter",
      token: preview.url.split("/").pop(),
      file: /src="\/a\/-\/([^"]+)"/.exec(page)?.[1] ?? "",
    },
    "/_rt/": { hash: /_rt\/(\w+)/.exec(page)?.[1] ?? "", name: "core.js" },
    "/cms/previews/": { token: draft.url.split("/").pop() },
    "/media/": { id: media.id, name: media.name, variant: "640.webp" },
    "/w/": { site_code: "acme", rest: "offer" },
    "/studio/": { rest: "core/prompts" },
    "/studio/-/": { name: /href="\/studio\/-\/([^"]+)"/.exec((await studio(place)).text)?.[1] ?? "" },
  };
  return { variables, ids };
}

async function studio({ client }: Place) {
  const body = { login: "admin", password: examplePassword };
  const { headers } = await client.post("/account/session.json", body, { token: null });
  return client.get("/studio", {
    token: null,
    headers: { cookie: (headers.get("set-cookie") ?? "").split(";")[0] ?? "" },
  });
}

/** Runs the commands one after the other. Streams end when the last one has ended, as a person ends them. */
async function shell(commands: readonly Operation[], { variables, ids }: Things, { folder }: Place): Promise<Ran[]> {
  const script = commands.map(({ method, path, curl }, at) => {
    const starts = (start: string) => path.startsWith(start) || `${method} ${path}`.startsWith(start);
    const given = Object.entries(variables).flatMap(([start, one]) => (starts(start) ? Object.entries(one) : []));
    const command = Object.entries(ids).reduce((text, [from, to]) => text.replaceAll(from, to), curl);
    const lines = given.map(([name, value]) => `${name}='${value}'`);
    return [
      `at=${at} TOKEN=${adminToken}`,
      ...lines,
      path.endsWith("/events") ? `${command} & streams="$streams $!"` : command,
    ].join("\n");
  });
  const own = `curl() { command curl -sS -N -m 60 -D "$at.head" -o "$at.body" "$@"; }`;
  const child = Bun.spawn(["sh"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] },
    stdin: new Blob([[own, ...script, 'if [ "$streams" ]; then kill $streams 2>/dev/null; fi'].join("\n")]),
    stderr: "inherit",
  });
  await child.exited;
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  return commands.map((one, at) => ({
    ...one,
    status: read(`${at}.head`).split(" ")[1] ?? "",
    body: read(`${at}.body`),
  }));
}

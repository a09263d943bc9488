import type { Account, BaseContext } from "platform";
import type { Apps, NewApp } from "../../plugins/apps/api.ts";
import type { Connectors, NewConnector } from "../../plugins/connectors/api.ts";
import type { Flows, NewFlow } from "../../plugins/flows/api.ts";
import type { JsonDatabases, NewDatabase } from "../../plugins/jsondb/api.ts";
import { appFiles } from "./files.js";

/** An app.json: the app but for its source, and what must stand before it. */
interface DemoApp {
  readonly db?: NewDatabase;
  /** Of an empty database. */
  readonly records?: readonly Readonly<Record<string, unknown>>[];
  readonly connectors?: readonly NewConnector[];
  readonly flows?: readonly NewFlow[];
  readonly app: Omit<NewApp, "source_code"> & { readonly url_code: string };
}

export interface AppsNeeded {
  readonly apps: Apps;
  readonly databases: JsonDatabases;
  readonly connectors: Pick<Connectors, "put">;
  readonly flows: Pick<Flows, "putFlow">;
  readonly transaction: BaseContext["transaction"];
}

type Done = "made" | "changed" | "unchanged";

/** Puts every app of apps/ into the account. What stands there as it should is left alone. */
export async function putApps(needed: AppsNeeded, account: Account): Promise<readonly string[]> {
  const all = demoApps();
  const done: Done[] = [];
  for (const app of all) done.push(await putApp(needed, account.id, app));
  const counts = (["made", "changed", "unchanged"] as const).flatMap((word) => {
    const count = done.filter((one) => one === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const lines = all.map(({ app }) => {
    const address = `${account.baseUrl}/a/${app.url_code}`;
    return `  ${address}  ${app.name}${app.public ? "" : " (for who has signed in)"}`;
  });
  return [`the apps: ${counts.join(", ")}`, ...lines];
}

function demoApps(): (DemoApp & { readonly app: NewApp })[] {
  return [...appFiles].flatMap(([path, text]) => {
    const [folder = "", file] = path.split("/");
    if (file !== "app.json") return [];
    const source = [...appFiles].find(([other]) => other.startsWith(`${folder}/`) && other !== path)?.[1];
    if (source === undefined) throw new Error(`the demo app ${folder} has no source`);
    const described = JSON.parse(text) as DemoApp; // ours; the services check it as they do a request
    return [{ ...described, app: { ...described.app, source_code: source } }];
  });
}

async function putApp(needed: AppsNeeded, accountId: number, described: ReturnType<typeof demoApps>[0]): Promise<Done> {
  const { apps, databases, connectors, flows } = needed;
  const by = { accountId, userId: null };
  const done: Done[] = [];
  if (described.db) {
    done.push((await databases.put(by, described.db)).done);
    await fill(needed, accountId, described.db.code, described.records ?? []);
  }
  for (const connector of described.connectors ?? []) done.push((await connectors.put(by, connector)).done);
  for (const flow of described.flows ?? []) done.push((await flows.putFlow(by, flow)).done);
  const app = (await apps.put(by, described.app)).done;
  return app === "unchanged" && done.some((one) => one !== "unchanged") ? "changed" : app;
}

/** All of the records or none: what a person has added, changed or taken away since is theirs. */
async function fill(
  { databases, transaction }: AppsNeeded,
  accountId: number,
  db: string,
  records: NonNullable<DemoApp["records"]>,
): Promise<void> {
  if ((await databases.search(accountId, db, { limit: 1 })).length > 0) return;
  await transaction(async (tx) => {
    const { create } = databases.within(tx);
    for (const data of records) await create(accountId, db, { data });
  });
}

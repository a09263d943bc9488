/** The webhooks and crons that start a flow, as far as the person may see them. */
import { get, mapsIn, session } from "studio";
import { cronStart, sampleOf, webhookStart, type Start } from "./starts.ts";

export class Starts {
  /** Undefined until they are known. */
  all = $state.raw<readonly Start[]>();

  async load(code: string): Promise<void> {
    const [webhooks, crons] = await Promise.all([
      session.may("webhooks") ? rowsAt("/account/webhooks.json?target_kind=flow&limit=1000") : [],
      session.may("crons")
        ? rowsAt(`/account/crons.json?${new URLSearchParams({ target_code: code, limit: "1000" })}`)
        : [],
    ]);
    this.all = [...webhooks.filter((row) => row["target_code"] === code).map(webhookStart), ...crons.map(cronStart)];
  }

  /** What this one might give the flow, as JSON. */
  async sample(start: Start): Promise<string> {
    const { db, table } = start;
    const query = new URLSearchParams({ limit: "1", ...(table !== "" && { table_name: table }) });
    const asks = db !== "" && session.may("dbs");
    const [latest] = asks ? await rowsAt(`/core/dbs/${encodeURIComponent(db)}/records.json?${query}`) : [];
    return JSON.stringify(sampleOf(start, latest), null, 2);
  }
}

async function rowsAt(path: string): Promise<Readonly<Record<string, unknown>>[]> {
  try {
    const { json } = await get(path);
    return mapsIn(json);
  } catch {
    return []; // the flow is worked on without them
  }
}

/** The deliveries of a webhook as they come: read again while somebody looks. */
import { addressOf, Fetched, frame, get, isMap, messageOf, repeatedly, request, session, Tables } from "studio";
import type { Answer } from "studio";
import { isDelivery, logPath, pageSize, refreshed, searched, type Delivery, type Log } from "./log.ts";
import { calledOf } from "./target.ts";

const everyMs = 3000;

export class LiveLog {
  log = $state.raw<Log | undefined>();
  problem = $state("");
  /** Before which delivery older ones are. */
  cursor = $state<number | undefined>();
  /** How many were looked through for those of one status. */
  looked = $state(searched);
  /** When it was last read: what is said of times counts from then. */
  now = $state(Date.now());
  private readonly webhookId: string;
  private readonly status: string;
  /** Nobody has the pointer or the focus in it. */
  private readonly isAtRest: () => boolean;

  constructor(webhookId: string, status: string, isAtRest: () => boolean) {
    this.webhookId = webhookId;
    this.status = status;
    this.isAtRest = isAtRest;
  }

  /** Reads the log and goes on until the signal. */
  begin(): () => void {
    const stop = new AbortController();
    void this.load(stop.signal);
    const end = repeatedly(everyMs, () => void this.refresh());
    return () => {
      stop.abort();
      end();
    };
  }

  async refresh(atOnce = false): Promise<void> {
    try {
      const latest = deliveriesIn((await request("GET", logPath(this.webhookId, this.status), { quiet: true })).json);
      if (!this.log) return;
      this.now = Date.now();
      this.log = this.settled(refreshed(this.log, latest, atOnce || this.isAtRest()), latest);
    } catch {
      // The next one may succeed.
    }
  }

  /** Shows those that wait. */
  showFresh(): void {
    if (this.log) this.log = { rows: [...this.log.fresh, ...this.log.rows], fresh: [] };
  }

  async older(): Promise<void> {
    const answer = await get(logPath(this.webhookId, this.status, this.cursor));
    const found = deliveriesIn(answer.json);
    this.cursor = cursorOf(answer);
    this.looked += searched;
    if (this.log) this.log = { ...this.log, rows: [...this.log.rows, ...found] };
  }

  private async load(signal: AbortSignal): Promise<void> {
    try {
      const answer = await get(logPath(this.webhookId, this.status), signal);
      this.cursor = cursorOf(answer);
      this.log = { rows: deliveriesIn(answer.json), fresh: [] };
    } catch (error) {
      if (signal.aborted) return;
      this.problem = messageOf(error);
      this.log = { rows: [], fresh: [] };
    }
  }

  /** Of one status only, what has another one now stays until nobody is looking. */
  private settled(log: Log, latest: readonly Delivery[]): Log {
    if (this.status === "" || !this.isAtRest()) return log;
    const found = new Set(latest.map(({ id }) => id));
    const oldest = latest.length < pageSize ? 0 : (latest.at(-1)?.id ?? 0);
    return { ...log, rows: log.rows.filter(({ id }) => id < oldest || found.has(id)) };
  }
}

function cursorOf({ headers }: Answer): number | undefined {
  const cursor = headers.get("x-next-cursor");
  return cursor === null ? undefined : Number(cursor);
}

function deliveriesIn(json: unknown): Delivery[] {
  return Array.isArray(json) ? json.filter(isDelivery) : [];
}

type Row = Readonly<Record<string, unknown>>;

/** The webhook of a log: the bar over the page calls it by its sentence. Begins and ends with the page. */
export function webhookOf(id: () => string): { readonly row: Row; readonly tables: Tables } {
  const tables = new Tables();
  const read = new Fetched(
    () => `/account/webhooks/${encodeURIComponent(id())}.json`,
    ({ json }): Row => (isMap(json) ? json : {}),
  );
  $effect(() => tables.begin());
  $effect(() => {
    if (!read.value) return;
    const address = addressOf(session.resource("/account/webhooks"), [id()]);
    frame.read(address, { ...read.value, name: calledOf(read.value, tables) });
  });
  return {
    tables,
    get row() {
      return read.value ?? {};
    },
  };
}

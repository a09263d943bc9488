/** What starts a flow: its webhooks and crons as they are stored, and as somebody is changing them. They go live with the flow. */
import {
  bodyOf,
  cronStart,
  hookStart,
  isMap,
  isWhole,
  KeptDraft,
  messageOf,
  newStart,
  request,
  same,
  session,
  startOf,
  startPaths,
  webhookStart,
  type Start,
} from "studio";
import { rowsAt } from "./program/codes.svelte.ts";

export class Starts {
  private stored = $state.raw<readonly Start[]>([]);
  /** As they are to be; undefined as long as nothing was changed. */
  private wanted = $state.raw<readonly Start[]>();
  isLoaded = $state(false);
  /** What the server has refused, by the key of a start. */
  problems = $state.raw<Readonly<Record<string, string>>>({});
  readonly all = $derived(this.wanted ?? this.stored);
  readonly isChanged = $derived(this.wanted !== undefined && !same(this.wanted, this.stored));
  private readonly draft: KeptDraft;
  private number = 0;

  constructor(id: string) {
    this.draft = new KeptDraft(`/connect/flows/${id}/starts`);
  }

  async load(code: string): Promise<void> {
    const [webhooks, crons, hooks] = await Promise.all([
      session.may("webhooks") ? rowsAt("/account/webhooks.json?target_kind=flow&limit=1000") : [],
      session.may("crons")
        ? rowsAt(`/account/crons.json?${new URLSearchParams({ target_code: code, limit: "1000" })}`)
        : [],
      rowsAt(`/connect/hooks.json?${new URLSearchParams({ flow_code: code, limit: "1000" })}`),
    ]);
    const ours = webhooks.filter((row) => row["target_code"] === code);
    this.stored = [...ours.map(webhookStart), ...crons.map(cronStart), ...hooks.map(hookStart)];
    const kept = this.draft.take()["starts"];
    if (typeof kept === "string" && !this.wanted) this.wanted = read(kept);
    this.isLoaded = true;
  }

  add(kind: Start["kind"], given: Partial<Start> = {}): Start {
    const used = new Set(this.all.map(({ key }) => key));
    do this.number++;
    while (used.has(`new ${this.number}`));
    const start = newStart(kind, this.number, given);
    this.put([...this.all, start]);
    return start;
  }

  change(key: string, part: Partial<Start>): void {
    const { [key]: _, ...others } = this.problems;
    this.problems = others;
    this.put(this.all.map((start) => (start.key === key ? { ...start, ...part } : start)));
  }

  remove(key: string): void {
    this.put(this.all.filter((start) => start.key !== key));
  }

  put(starts: readonly Start[]): void {
    this.wanted = starts;
    if (this.isChanged) this.draft.keep({ starts: JSON.stringify(starts) });
    else this.draft.forget();
  }

  reset(): void {
    this.wanted = undefined;
    this.problems = {};
    this.draft.forget();
  }

  /** The key of the first start that does not say yet what it waits for. */
  get unfinished(): string | undefined {
    return this.all.find((start) => !isWhole(start))?.key;
  }

  /** All on or all off, as they are stored; what is being changed stays so. */
  async flip(active: boolean): Promise<void> {
    for (const { key, kind, id } of this.stored) {
      const { json } = await request("PATCH", `${startPaths[kind]}/${id}.json`, { body: { [kind]: { active } } });
      const { next } = startOf(kind, isMap(json) ? json : {});
      const flipped = (all: readonly Start[]) =>
        all.map((start) => (start.key === key ? { ...start, active, next } : start));
      this.stored = flipped(this.stored);
      if (this.wanted) this.put(flipped(this.wanted));
    }
  }

  /** Stores them as they are to be, on or off. Gives back whether the server took every one. */
  async store(code: string, active: boolean): Promise<boolean> {
    const problems: Record<string, string> = {};
    const attempt = async (key: string, work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        problems[key] = messageOf(error);
      }
    };
    const kept = new Set(this.all.map(({ key }) => key));
    for (const { key, kind, id } of this.stored.filter((start) => !kept.has(start.key)))
      await attempt(key, () => request("DELETE", `${startPaths[kind]}/${id}.json`));
    const before = new Map(this.stored.map((start) => [start.key, start]));
    const next: Start[] = [];
    for (const start of this.all) {
      let now = start;
      const old = before.get(start.key);
      if (!old || !same(old, start) || start.active !== active)
        await attempt(start.key, async () => {
          const path = startPaths[start.kind];
          const body = bodyOf(start, code, active);
          const { json } = old
            ? await request("PATCH", `${path}/${start.id}.json`, { body })
            : await request("POST", `${path}.json`, { body });
          now = startOf(start.kind, isMap(json) ? json : {});
        });
      next.push(now);
    }
    this.problems = problems;
    this.stored = next.filter(({ id }) => id !== "");
    this.wanted = Object.keys(problems).length > 0 ? next : undefined;
    if (!this.isChanged) this.draft.forget();
    return Object.keys(problems).length === 0;
  }
}

function read(kept: string): readonly Start[] | undefined {
  try {
    const starts: unknown = JSON.parse(kept);
    return Array.isArray(starts)
      ? starts.filter(isMap).map((start): Start => ({ ...newStart("webhook", 0), ...start }))
      : undefined;
  } catch {
    return undefined;
  }
}

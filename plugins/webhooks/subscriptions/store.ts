import { readPage, type Named, type Page, type Queryable, type Sql, type Static, type Tx, type Use } from "platform";
import type { Webhook } from "../answers.ts";
import type { Filter } from "./match.ts";

export type TargetKind = "url" | "connector" | "flow";
export type RatePeriod = "second" | "minute";

/** The fields that people set. */
export interface WebhookInput {
  readonly sourceType: string;
  readonly kind: string;
  readonly targetKind: TargetKind;
  readonly url: string | null;
  readonly targetCode: string | null;
  readonly active: boolean;
  readonly filter: Filter | null;
  readonly ordered: boolean;
  readonly rateLimit: number | null;
  readonly ratePeriod: RatePeriod;
  readonly concurrency: number;
}

/** Sealed texts. */
interface Sealed {
  readonly apiToken: string | null;
  readonly apiTokenInfo: string | null;
}

export interface WebhookRow extends WebhookInput, Sealed {
  readonly id: number;
  readonly accountId: number;
  /** Null = unknown: made before this was kept. */
  readonly createdById: number | null;
  readonly disabledReason: string | null;
  readonly signingSecret: string;
  readonly previousSecret: string | null;
  readonly previousSecretUntil: Date | null;
  readonly failingSince: Date | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewWebhook extends WebhookInput, Sealed {
  readonly id: number;
  readonly accountId: number;
  readonly createdById: number;
  readonly signingSecret: string;
}

export interface WebhookPatch extends WebhookInput, Sealed {
  readonly createdById: number | null;
  /** It is switched on again: the server forgets what it found wrong. */
  readonly revived: boolean;
}

export interface WebhookFilter {
  readonly sourceType?: string | undefined;
  readonly kind?: string | undefined;
  readonly targetKind?: string | undefined;
  readonly active?: boolean | undefined;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

/** All SQL about webhooks; that of deliveries is in delivery-store.ts and queue-store.ts. */
export function createWebhookStore(sql: Sql) {
  const columns = sql`
    id, account_id, source_type, kind, target_kind, url, target_code, api_token, api_token_info, active,
    disabled_reason, filter, ordered, rate_limit, rate_period, concurrency, signing_secret, previous_secret,
    previous_secret_until, failing_since, created_by_id, version, created_at, updated_at`;
  const json = (filter: Filter | null) => sql`${filter === null ? null : JSON.stringify(filter)}::text::json`;

  return {
    async list(accountId: number, filter: WebhookFilter, page: Page) {
      const { sourceType, kind, targetKind, active } = filter;
      const where = sql`
        account_id = ${accountId}
        ${sourceType === undefined ? sql`` : sql`and source_type = ${sourceType}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${targetKind === undefined ? sql`` : sql`and target_kind = ${targetKind}`}
        ${active === undefined ? sql`` : sql`and active = ${active}`}`;
      return readPage<WebhookRow>(sql, page, { columns, from: sql`webhooks where ${where}`, order: sql`id` });
    },

    /** The active ones: only they send. */
    active: (accountId: number) => sql<WebhookRow[]>`
      select ${columns} from webhooks where account_id = ${accountId} and active order by id`,

    /** Those whose target, or whose filter of records, is one of these. */
    async naming(accountId: number, { model, keys }: Named, limit: number): Promise<readonly Use[]> {
      const kind = model === "Core::Flow" ? "flow" : "connector";
      const names = {
        "Core::Db": sql`source_type = 'Core::Record' and filter ->> 'db_code' = any(${keys})`,
        "Core::Flow": sql`target_kind = ${kind} and target_code = any(${keys})`,
        "Core::Connector": sql`target_kind = ${kind} and target_code = any(${keys})`,
      }[model];
      if (!names) return [];
      const rows = await sql<Pick<WebhookRow, "id" | "sourceType" | "kind" | "url">[]>`
        select id, source_type, kind, url from webhooks
        where account_id = ${accountId} and ${names} order by id limit ${limit}`;
      return rows.map(({ id, sourceType, kind: event, url }) => ({
        kind: "webhook",
        id,
        name: url ?? `${sourceType} ${event}`,
        path: `/account/webhooks/${id}.json`,
      }));
    },

    async byId(accountId: number, id: number, on: Queryable = sql): Promise<WebhookRow | undefined> {
      const [row] = await on<WebhookRow[]>`
        select ${columns} from webhooks where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    /** Like `byId`, and nobody changes it until the transaction ends. */
    async lock(tx: Tx, accountId: number, id: number): Promise<WebhookRow | undefined> {
      const [row] = await tx<WebhookRow[]>`
        select ${columns} from webhooks where account_id = ${accountId} and id = ${id} for no key update`;
      return row;
    },

    /** Like `byId`, for writers of deliveries: nobody switches it off or deletes it until the transaction ends. */
    async hold(tx: Tx, accountId: number, id: number): Promise<WebhookRow | undefined> {
      const [row] = await tx<WebhookRow[]>`
        select ${columns} from webhooks where account_id = ${accountId} and id = ${id} for share`;
      return row;
    },

    /** How many there are, and the next id: the secrets are sealed for it before the row is written. */
    async place(tx: Tx, accountId: number): Promise<{ count: number; id: number }> {
      const [row] = await tx<{ count: number; id: number }[]>`
        select nextval(pg_get_serial_sequence('webhooks', 'id')) as id,
          (select count(*) from webhooks where account_id = ${accountId}) as count`;
      if (!row) throw new Error("a select without a from clause gives one row");
      return row;
    },

    async insert(tx: Tx, row: NewWebhook): Promise<WebhookRow> {
      const [made] = await tx<WebhookRow[]>`
        insert into webhooks (id, account_id, source_type, kind, target_kind, url, target_code, api_token,
          api_token_info, active, filter, ordered, rate_limit, rate_period, concurrency, signing_secret, created_by_id)
        values (${row.id}, ${row.accountId}, ${row.sourceType}, ${row.kind}, ${row.targetKind}, ${row.url},
          ${row.targetCode}, ${row.apiToken}, ${row.apiTokenInfo}, ${row.active}, ${json(row.filter)}, ${row.ordered},
          ${row.rateLimit}, ${row.ratePeriod}, ${row.concurrency}, ${row.signingSecret}, ${row.createdById})
        returning ${columns}`;
      if (!made) throw new Error("an insert without a conflict clause gives its row");
      return made;
    },

    async update(tx: Tx, accountId: number, id: number, row: WebhookPatch): Promise<WebhookRow | undefined> {
      const [changed] = await tx<WebhookRow[]>`
        update webhooks set source_type = ${row.sourceType}, kind = ${row.kind}, target_kind = ${row.targetKind},
          url = ${row.url}, target_code = ${row.targetCode}, api_token = ${row.apiToken},
          api_token_info = ${row.apiTokenInfo}, active = ${row.active}, filter = ${json(row.filter)},
          ordered = ${row.ordered}, rate_limit = ${row.rateLimit}, rate_period = ${row.ratePeriod},
          concurrency = ${row.concurrency}, created_by_id = ${row.createdById}, version = version + 1, updated_at = now(),
          disabled_reason = case when ${row.revived} then null else disabled_reason end,
          failing_since = case when ${row.revived} then null else failing_since end
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return changed;
    },

    async delete(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`delete from webhooks where account_id = ${accountId} and id = ${id}`;
      await tx`delete from webhook_rates where webhook_id = ${id}`;
    },

    async rotate(tx: Tx, accountId: number, id: number, secret: string, overlapSeconds: number) {
      const [row] = await tx<WebhookRow[]>`
        update webhooks set previous_secret = signing_secret, signing_secret = ${secret},
          previous_secret_until = now() + make_interval(secs => ${overlapSeconds}), version = version + 1,
          updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row;
    },
  };
}

/** A webhook as the API shows it: no secrets (behaviour B.8). */
export function toApi(row: WebhookRow): Static<typeof Webhook> {
  return {
    id: row.id,
    source_type: row.sourceType,
    kind: row.kind,
    target_kind: row.targetKind,
    url: row.url,
    target_code: row.targetCode,
    api_token_info: row.apiTokenInfo,
    active: row.active,
    disabled_reason: row.disabledReason,
    filter: row.filter,
    ordered: row.ordered,
    rate_limit: row.rateLimit,
    rate_period: row.ratePeriod,
    concurrency: row.concurrency,
    failing_since: row.failingSince,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

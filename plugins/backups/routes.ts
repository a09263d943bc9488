import {
  answer,
  integerId,
  list,
  pageReply,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  type Account,
  type Route,
  type Static,
} from "platform";
import { Backup } from "./answers.ts";
import type { BackupsContext } from "./context.ts";
import * as backupStore from "./store.ts";
import type { BackupRow } from "./store.ts";

const access = { privilege: "backups" } as const;

export const backupExample = {
  id: 7,
  kind: "backup" as const,
  state: "good" as const,
  file: "corestead-20260131T033000Z.backup.sealed",
  bytes: 48_211_034,
  verified: true,
  error: null,
  started_at: "2026-01-31T03:30:00.000Z",
  ended_at: "2026-01-31T03:31:12.000Z",
  removed_at: null,
};

/** The scheduled backups of the installation, for the administrators of its first account. */
export function backupRoutes({ sql, services }: BackupsContext): Route[] {
  const isFirst = async ({ id }: Account) => id === (await services.accounts.defaultAccount()).id;
  return [
    route(
      "GET",
      "/core/backups",
      {
        summary: "List scheduled backups",
        description:
          "The newest first, of the last year at least. They hold the whole installation: other accounts than the " +
          "first see none. `verified`: it was restored into a scratch database. `removed_at`: pruning removed the file. With BACKUP_WAL a " +
          "`base` is a copy of the cluster that was read back, and `wal` says that changes are not archived, or are again.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(Backup) },
        responses: { 200: [backupExample] },
      },
      async ({ account, query }) => {
        if (!(await isFirst(account))) return list([], 0);
        return pageReply(await backupStore.list(sql, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/backups/:id",
      { summary: "One scheduled backup", access, answers: { 200: Backup }, responses: { 200: backupExample } },
      async ({ account, params }) => {
        const row = (await isFirst(account)) ? await backupStore.byId(sql, integerId(params.id)) : undefined;
        if (!row) throw notFound();
        return ok(toApi(row));
      },
    ),
  ];
}

export function toApi(row: BackupRow): Static<typeof Backup> {
  const { id, kind, file, bytes, verified, error } = row;
  return {
    id,
    kind,
    state: row.endedAt === null ? "running" : error === null ? "good" : "failed",
    file,
    bytes,
    verified,
    error,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    removed_at: row.removedAt,
  };
}

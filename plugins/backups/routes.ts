import { answer, integerId, list, pageReply, notFound, ok, pageOf, pageQuery, route, toApi } from "platform";
import type { Account, Route } from "platform";
import { Backup } from "./answers.ts";
import type { BackupsContext } from "./context.ts";
import * as backupStore from "./store.ts";

const access = { privilege: "backups" } as const;

const { answer: Shown, example } = Backup;

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
        answers: { 200: answer.list(Shown) },
        responses: { 200: [example] },
      },
      async ({ account, query }) => {
        if (!(await isFirst(account))) return list([], 0);
        return pageReply(await backupStore.list(sql, pageOf(query)), (row) => toApi(Backup, row));
      },
    ),
    route(
      "GET",
      "/core/backups/:id",
      { summary: "One scheduled backup", access, answers: { 200: Shown }, responses: { 200: example } },
      async ({ account, params }) => {
        const row = (await isFirst(account)) ? await backupStore.byId(sql, integerId(params.id)) : undefined;
        if (!row) throw notFound();
        return ok(toApi(Backup, row));
      },
    ),
  ];
}

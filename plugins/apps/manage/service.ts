import { isObject } from "platform";
import type { Apps } from "../api.ts";
import { applied, patchTo } from "./patch.ts";
import type { AppRow } from "../store.ts";
import * as appStore from "../store.ts";
import * as appWriter from "./write.ts";
import type { AppsContext } from "../context.ts";

/** Apps for other plugins, which need no privileges for this. */
export function appsService(ctx: AppsContext): Apps {
  return {
    async put({ accountId, userId }, app) {
      const author = { accountId, userId, mayTrust: true, mayOpenDatabases: true, mayNameFlows: true };
      const found = await appStore.findApp(ctx.sql, accountId, app.url_code);
      if (!found) return { id: (await appWriter.create(ctx, author, app)).id, done: "made" };
      const same = (row: AppRow) =>
        (app.trusted ?? row.trusted) === row.trusted && printed(patchTo(applied(row, app))) === printed(patchTo(row));
      if (same(found)) return { id: found.id, done: "unchanged" };
      await appWriter.update(
        ctx,
        author,
        found.id,
        () => app,
        () => undefined,
      );
      return { id: found.id, done: "changed" };
    },
    promptOf: async (accountId, key) => (await appStore.findApp(ctx.sql, accountId, key))?.prompt,
  };
}

/** JSON with sorted keys, because the database does not keep their order. */
function printed(value: unknown): string {
  const inOrder = (inner: object) => Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? Object.fromEntries(inOrder(inner)) : inner));
}

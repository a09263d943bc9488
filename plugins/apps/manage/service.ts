import { isObject } from "platform";
import type { Apps } from "../api.ts";
import { applied, patchTo } from "./patch.ts";
import type { AppRow, AppStore } from "../store.ts";
import type { AppWriter } from "./write.ts";

interface Needed {
  readonly appStore: AppStore;
  readonly appWriter: AppWriter;
}

/** Apps for other plugins, which need no privileges for this. */
export function createService({ appStore, appWriter }: Needed): Apps {
  return {
    async put({ accountId, userId }, app) {
      const author = { accountId, userId, mayTrust: true, mayOpenDatabases: true, mayNameFlows: true };
      const found = await appStore.find(accountId, app.url_code);
      if (!found) return { id: (await appWriter.create(author, app)).id, done: "made" };
      const same = (row: AppRow) =>
        (app.trusted ?? row.trusted) === row.trusted && printed(patchTo(applied(row, app))) === printed(patchTo(row));
      if (same(found)) return { id: found.id, done: "unchanged" };
      await appWriter.update(
        author,
        found.id,
        () => app,
        () => undefined,
      );
      return { id: found.id, done: "changed" };
    },
    promptOf: async (accountId, key) => (await appStore.find(accountId, key))?.prompt,
  };
}

/** JSON with sorted keys, because the database does not keep their order. */
function printed(value: unknown): string {
  const inOrder = (inner: object) => Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? Object.fromEntries(inOrder(inner)) : inner));
}

import {
  answer,
  expectedVersion,
  integerId,
  pageReply,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  warned,
  type Route,
} from "platform";
import { App, AppVersion } from "../answers.ts";
import { authorOf, type SeenVersion } from "./write.ts";
import { access, appExample, shown, unknownNames, versionExample } from "./routes.ts";
import { keptVersions, versionToApi } from "../store.ts";
import * as appWriter from "./write.ts";
import * as copyStore from "../copies-store.ts";
import type { AppsContext } from "../context.ts";

/** Every save creates a version. behaviour B.10. */
export function versionRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "GET",
      "/core/apps/:id/versions",
      {
        summary: "List an app's versions, latest first",
        description: `Every save creates one; the latest ${keptVersions} are kept.`,
        access,
        query: pageQuery,
        answers: { 200: answer.list(AppVersion) },
        responses: { 200: [versionExample] },
      },
      async ({ caller, params, query }) => {
        const { id } = await appWriter.find(ctx, caller.account.id, params.id);
        return pageReply(await copyStore.listVersions(ctx.sql, caller.account.id, id, pageOf(query)), versionToApi);
      },
    ),
    route(
      "POST",
      "/core/apps/:id/versions/:n/restore",
      {
        summary: "Restore an earlier version",
        description:
          'Saves it as a new version; `trusted` does not change. With `If-Match: "<etag>"`: 412 if that version is no longer the latest.',
        access,
        ifMatch: true,
        answers: { 200: App },
        responses: { 200: { ...appExample, updated_by_id: 1 } },
      },
      async ({ caller, params, request }) => {
        const version = integerId(params.n);
        if (version > maxVersion) throw notFound();
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        const row = await appWriter.restore(ctx, authorOf(caller, request), params.id, version, seen);
        return warned(ok(...shown(row)), await unknownNames(ctx.names, row));
      },
    ),
  ];
}

/** The largest value of the column. */
const maxVersion = 2 ** 31 - 1;

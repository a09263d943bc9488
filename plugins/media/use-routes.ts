import { answer, list, notFound, route, uuidOf, type Route } from "platform";
import { MediaUse } from "./answers.ts";
import * as mediaStore from "./store.ts";
import type { MediaContext } from "./context.ts";

/** The most that is answered of the records of one plugin: enough to know that a file is in use, and where. */
const most = 200;

/** `/core/media/:id/uses`: before a file is deleted, moved or made private. behaviour B.15.14. */
export function useRoutes(ctx: MediaContext): Route[] {
  return [
    route(
      "GET",
      "/core/media/:id/uses",
      {
        summary: "Where a file is used",
        description: `Sites, pages, paragraphs, layouts and articles (privilege \`cms\`) whose texts or fields have its address, or its folder and name in quotes. A name that a template puts together is not found. At most ${most}.`,
        access: { privilege: "media" },
        answers: { 200: answer.list(MediaUse) },
        responses: { 200: [{ model: "Cms::Page", id: 7, code: "about", name: "About us", site_code: "acme" }] },
      },
      async ({ caller, params }) => {
        const row = await mediaStore.byId(ctx.sql, caller.account.id, uuidOf(params.id));
        if (!row) throw notFound();
        const path = row.folder === "" ? row.name : `${row.folder}/${row.name}`;
        const asked = ctx.uses.filter(({ privilege }) => caller.privileges.has(privilege));
        const found = await Promise.all(asked.map((one) => one.find(caller.account.id, { id: row.id, path }, most)));
        const all = found.flat().map(({ siteCode, ...use }) => ({ ...use, site_code: siteCode }));
        return list(all, all.length);
      },
    ),
  ];
}

import { answer, etag, expectedVersion, found, integerId, notFound, ok, pageQuery, pageReply, pageOf } from "platform";
import { resourceRoutes, route, shown, text, toApi, Type, uuidOf, type Route } from "platform";
import { Markdown } from "./answers.ts";
import { changePrompt, createPrompt, ifMatch, Prompt, type PromptsContext } from "./prompt.ts";
import { findVersion, keptVersions, versions } from "./store.ts";

const access = { privilege: Prompt.privilege } as const;
/** The largest value of the column. */
const maxVersion = 2 ** 31 - 1;

/** behaviour 4.1 and B.5. */
export function promptRoutes(ctx: PromptsContext): Route[] {
  const {
    list,
    get,
    create,
    change,
    delete: erase,
  } = resourceRoutes(Prompt, ctx, {
    create: createPrompt,
    change: changePrompt,
  });
  const content = route(
    "GET",
    "/core/prompts/:id.md",
    {
      summary: "A prompt's stored content, unrendered",
      access,
      answers: { 200: Markdown },
      responses: { 200: String(Prompt.examples.one["content"]), 304: null },
    },
    async ({ request, caller, params }) => {
      const row = await found(Prompt, { ...ctx, caller, request }, { id: uuidOf(params.id) });
      return text(200, row.content, "text/markdown; charset=utf-8", { etag: etag(row.id, row.version) });
    },
  );
  return [list, get, content, create, change, erase, ...versionRoutes(ctx)];
}

const { id: _, updated_by_id: __, updated_at: ___, ...kept } = Prompt.answers.one.properties;
const PromptVersion = answer.object("PromptVersion", {
  version: Type.Integer(),
  created_at: answer.time(),
  created_by_id: Type.Integer(),
  ...kept,
});
const version = {
  shows: [["version", "version"] as const, ...Prompt.shows.filter(([name]) => Object.hasOwn(kept, name))],
};

const versionExample = Object.fromEntries(
  Object.entries({ version: 1, ...Prompt.examples.one }).filter(([name]) => name === "version" || name in kept),
);

/** behaviour B.10, for prompts too. */
function versionRoutes(ctx: PromptsContext): Route[] {
  return [
    route(
      "GET",
      "/core/prompts/:id/versions",
      {
        summary: "List a prompt's versions, latest first",
        description: `Every save creates one; the latest ${keptVersions} are kept. Those in a scope that you may not see are left out.`,
        access,
        query: pageQuery,
        answers: { 200: answer.list(PromptVersion) },
        responses: { 200: [versionExample] },
      },
      async ({ request, caller, params, query }) => {
        const { id, accountId } = await found(Prompt, { ...ctx, caller, request }, { id: uuidOf(params.id) });
        return pageReply(await versions(ctx.sql, accountId, caller.user, id, pageOf(query)), (row) =>
          toApi(version, row),
        );
      },
    ),
    route(
      "POST",
      "/core/prompts/:id/versions/:n/restore",
      {
        summary: "Restore an earlier version",
        description: `Saves it as a new version. ${ifMatch}`,
        access,
        ifMatch: true,
        answers: { 200: Prompt.answers.one },
        responses: { 200: Prompt.examples.changed, 422: { code: ["is already taken"] } },
      },
      async ({ request, caller, params }) => {
        const at = { ...ctx, caller, request };
        const id = uuidOf(params.id);
        const number = integerId(params.n);
        if (number > maxVersion) throw notFound();
        const expected = expectedVersion(request, id);
        await found(Prompt, at, { id });
        const { scopeId, aiPlaceholder, ...old } = await findVersion(
          ctx.sql,
          caller.account.id,
          caller.user,
          id,
          number,
        );
        const { name, code, content, kind, scope } = old;
        const given = { name, code, content, kind, scope, scope_id: scopeId, ai_placeholder: aiPlaceholder };
        const { after } = await changePrompt(at, { id }, given, () => expected);
        return ok(...(await shown(Prompt, at, after)));
      },
    ),
  ];
}

import {
  answer,
  credentialOf,
  etag,
  expectedVersion,
  found,
  integerId,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  resourceRoutes,
  route,
  shown,
  text,
  toApi,
  Type,
  uuidOf,
} from "platform";
import type { Caller, Route } from "platform";
import { BuiltInPrompt, Markdown } from "./answers.ts";
import type { PromptsContext } from "./context.ts";
import { changePrompt, createPrompt, ifMatch, Prompt } from "./prompt.ts";
import { renderPrompt } from "./render.ts";
import { findVersion, keptVersions, versions } from "./store.ts";

const access = { privilege: Prompt.privilege } as const;
/** The largest value of the column. */
const maxVersion = 2 ** 31 - 1;

/** behaviour 4.1 and B.5. */
export function promptRoutes(ctx: PromptsContext): Route[] {
  const {
    list: listing,
    get,
    ...others
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
  return [listing, get, content, ...Object.values(others), ...versionRoutes(ctx)];
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

const markdown = "text/markdown; charset=utf-8";

/** Prompts as agents read them: sign-in is required, but no privilege. behaviour 4.1, B.4. */
export function renderedRoutes(ctx: PromptsContext): Route[] {
  const { builtIn, tokens } = ctx;
  /** A session's own token must stay in the browser, since prompts are pasted elsewhere (behaviour B.5). */
  const tokenFor = async (request: Request, caller: Caller): Promise<string> =>
    caller.viaCookie ? tokens.temporaryToken(caller) : (credentialOf(request.headers)?.token ?? "");

  return [
    route(
      "GET",
      "/core/prompt/:code.md",
      {
        summary: "A prompt, found through the cascade and rendered",
        description:
          "The first one that exists: your own, your team's, your department's, the account's, the built-in file. The " +
          "result of the same search for `<code>_extra` is appended. `TOKEN` is the token that you send (for a session, " +
          "one that lasts an hour), `ACCOUNT_URL` the account's address. The header `X-Prompt-Name` is the prompt's " +
          "name, percent-encoded.",
        access: { signedIn: "everyone who may start an agent may read its prompt" },
        query: { date: "value of {{ date }}; default today", "*": "any other parameter is a variable of the prompt" },
        answers: { 200: Markdown },
        responses: {
          200: "Write an entry for the client 7.",
          422: { content: ["would print TOKEN inside an address"] },
        },
      },
      async ({ caller, request, params, query }) => {
        const { name, text: body } = await renderPrompt(ctx, {
          caller,
          code: params.code,
          query,
          token: await tokenFor(request, caller),
        });
        return text(200, body, markdown, {
          "cache-control": "private, no-store",
          ...(name !== null && { "x-prompt-name": encodeURIComponent(name) }),
        });
      },
    ),
    route(
      "GET",
      "/core/prompts/system",
      {
        summary: "List the built-in prompts",
        description:
          "Sorted by code, including those that a stored prompt overrides. `url` is the rendered prompt's address.",
        access: { signedIn: "everyone who may start an agent may know its instructions" },
        query: pageQuery,
        answers: { 200: answer.list(BuiltInPrompt) },
        responses: {
          200: [
            {
              code: "dbs_api",
              name: "JSON databases",
              kind: "chat",
              ai_placeholder: null,
              plugin: "jsondb",
              url: "https://core.example.com/core/prompt/dbs_api.md",
            },
          ],
        },
      },
      ({ account, query }) => {
        const { limit, offset } = pageOf(query);
        const all = [...builtIn]
          .map(([code, { name, kind, placeholder, plugin }]) => {
            const url = `${account.baseUrl}/core/prompt/${code}.md`;
            return { code, name, kind, ai_placeholder: placeholder, plugin, url };
          })
          .toSorted((a, b) => (a.code < b.code ? -1 : 1));
        return list(all.slice(offset, offset + limit), all.length);
      },
    ),
    route(
      "GET",
      "/core/prompts/system/:code.md",
      {
        summary: "A built-in prompt file, unrendered",
        access: { signedIn: "everyone may compare a prompt with the built-in one" },
        answers: { 200: Markdown },
        responses: { 200: "---\nname: Work entry\n---\nWrite an entry for the client {{ client_id }}.\n" },
      },
      ({ params }) => {
        const prompt = builtIn.get(params.code);
        if (!prompt) throw notFound();
        return text(200, prompt.file, markdown);
      },
    ),
  ];
}

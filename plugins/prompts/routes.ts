import { answer, created, etag, expectedVersion, field, invalid, pageReply, noContent } from "platform";
import { ok, pageOf, pageQuery, route, text, Type, uuidOf, wildcardPattern, type Route } from "platform";
import { Markdown, Prompt } from "./answers.ts";
import { scopes } from "./cascade.ts";
import { orders, toApi, type Order, type PromptFilter, type PromptRow, type PromptStore } from "./store.ts";
import type { Author, PromptWriter } from "./write.ts";

export const maxContent = 200_000;

const PromptInput = Type.Object({
  name: field.name(),
  code: field.code(),
  content: field.name(maxContent),
  kind: Type.Optional(field.oneOf(["chat", "agent"])),
  scope: Type.Optional(field.oneOf(scopes)),
  scope_id: Type.Optional(field.nullable(field.id())),
  ai_placeholder: Type.Optional(field.line(1000)),
});

const saved = {
  name: "New work entry",
  code: "workinfo_new",
  content: 'Write an entry for the client {{ client_id }}.\n\n{{ "apps_api" | api_block }}',
  kind: "chat",
  scope: "account",
  scope_id: null,
  ai_placeholder: "What was done?",
  fields: { ai_placeholder: "What was done?" },
};
const created_at = "2026-01-31T10:00:00.000Z";
export const promptExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
  ...saved,
  created_by_id: 1,
  updated_by_id: null,
  created_at,
  updated_at: created_at,
};
export const versionExample = { version: 1, created_at, created_by_id: 1, ...saved };
const { name, code, content, kind, ai_placeholder } = saved;
export const updatedExample = { ...promptExample, name: "Work entry", updated_by_id: 1 };

export const access = { privilege: "prompts" } as const;
export const ifMatch = 'With `If-Match: "<etag>"`: 412 if that version is no longer the latest.';

interface Needed {
  readonly promptStore: PromptStore;
  readonly promptWriter: PromptWriter;
  readonly authorOf: (input: { request: Request; caller: Author["caller"] }) => Author;
}

/** behaviour 4.1 and B.5. */
export function promptRoutes({ promptStore, promptWriter, authorOf }: Needed): Route[] {
  return [
    route(
      "GET",
      "/core/prompts",
      {
        summary: "List stored prompts",
        description: "The account's, your own, and those of your teams and departments; administrators see all.",
        access,
        query: {
          q: "searches name and code; `*` and `%` are wildcards",
          code: "exact value",
          kind: Type.String({ enum: ["chat", "agent"], description: "exact value" }),
          scope: Type.String({ enum: [...scopes], description: "exact value" }),
          order_by: `${orders.join(", ")}; append \`_desc\` to reverse the order`,
          ...pageQuery,
        },
        answers: { 200: answer.list(Prompt) },
        responses: { 200: [promptExample], 422: { order_by: ["must be one of …"] } },
      },
      async ({ caller, query }) => {
        const { account, user } = caller;
        return pageReply(
          await promptStore.list(account.id, user, filterOf(query), orderOf(query), pageOf(query)),
          toApi,
        );
      },
    ),
    route(
      "GET",
      "/core/prompts/:id",
      { summary: "One prompt", access, answers: { 200: Prompt }, responses: { 200: promptExample, 304: null } },
      async ({ caller, params }) => ok(...shown(await promptWriter.find(caller, uuidOf(params.id)))),
    ),
    route(
      "GET",
      "/core/prompts/:id.md",
      {
        summary: "A prompt's stored content, unrendered",
        access,
        answers: { 200: Markdown },
        responses: { 200: content, 304: null },
      },
      async ({ caller, params }) => {
        const row = await promptWriter.find(caller, uuidOf(params.id));
        return text(200, row.content, "text/markdown; charset=utf-8", { etag: etag(row.id, row.version) });
      },
    ),
    route(
      "POST",
      "/core/prompts",
      {
        summary: "Create a prompt",
        description:
          "The default scope is `account`. `user` without a `scope_id` is your own; `team` and `department` require one. " +
          "A prompt with the code of a built-in one replaces it.",
        access,
        body: { key: "prompt", schema: PromptInput },
        request: { name, code, content, kind, ai_placeholder },
        answers: { 201: Prompt },
        responses: { 201: promptExample, 422: { code: ["is already taken"] } },
      },
      async (input) => created(...shown(await promptWriter.create(authorOf(input), input.body))),
    ),
    route(
      "PATCH",
      "/core/prompts/:id",
      {
        summary: "Change a prompt",
        description: ifMatch,
        access,
        ifMatch: true,
        body: { key: "prompt", schema: Type.Partial(PromptInput) },
        request: { name: "Work entry" },
        answers: { 200: Prompt },
        responses: { 200: updatedExample },
      },
      async (input) => {
        const id = uuidOf(input.params.id);
        const expected = expectedVersion(input.request, id);
        return ok(...shown(await promptWriter.update(authorOf(input), id, input.body, expected)));
      },
    ),
    route(
      "DELETE",
      "/core/prompts/:id",
      {
        summary: "Delete a prompt with its versions",
        description: `A built-in prompt with the same code applies again. ${ifMatch}`,
        access,
        ifMatch: true,
        responses: { 204: null, 422: { code: ["your prompt books_extra adds to it: delete or rename that first"] } },
      },
      async ({ request, caller, params }) => {
        const id = uuidOf(params.id);
        await promptWriter.remove(caller, id, expectedVersion(request, id));
        return noContent();
      },
    ),
  ];
}

export function shown(row: PromptRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

/** An unknown value matches nothing, like any exact filter. */
function filterOf(query: URLSearchParams): PromptFilter {
  const q = query.get("q");
  return {
    q: q ? wildcardPattern(q) : undefined,
    code: query.get("code") || undefined,
    kind: query.get("kind") || undefined,
    scope: query.get("scope") || undefined,
  };
}

function orderOf(query: URLSearchParams): Order {
  const given = query.get("order_by") || "id";
  const descending = given.endsWith("_desc");
  const by = orders.find((order) => order === (descending ? given.slice(0, -"_desc".length) : given));
  if (!by) throw invalid({ order_by: [`must be one of ${orders.join(", ")}, with or without _desc at the end`] });
  return { by, descending };
}

/** Tools for authors of prompts: a preview of unsaved content, the cascade explained, and completions. */
import { field, forbidden, invalid, ok, route, Type, warned, type Caller, type Route, type User } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { PromptCascade, PromptPreview, PromptWords } from "./answers.ts";
import { explained, type Step } from "./explained.ts";
import { suffix } from "./cascade.ts";
import type { PromptsContext } from "./context.ts";
import { previewOf } from "./preview.ts";
import { maxContent, Prompt, tokenOf } from "./prompt.ts";
import { named } from "./store.ts";
import { documentedVariables } from "./sources.ts";

const access = { privilege: Prompt.privilege } as const;
const maxParams = 100;

const PreviewInput = Type.Object({
  content: field.name(maxContent),
  code: Type.Optional(field.code()),
  name: Type.Optional(field.line()),
  kind: Type.Optional(field.oneOf(["chat", "agent"])),
  ai_placeholder: Type.Optional(field.line(1000)),
  params: Type.Optional(field.object()),
});

export function previewRoutes(ctx: PromptsContext): Route[] {
  return [previewRoute(ctx), cascadeRoute(ctx), wordsRoute(ctx)];
}

function previewRoute(ctx: PromptsContext): Route {
  return route(
    "POST",
    "/core/prompts/preview",
    {
      summary: "Render a prompt that is not saved",
      description:
        "Checked like a prompt that is saved, and nothing is stored. `params` are the parameters of the request that an " +
        "agent would make; `variables` in the answer are those that the content asks for. Where the token would stand, " +
        "the text has `{{ TOKEN }}`. With a `code`, your `<code>_extra` is appended; a draft whose code ends in " +
        "`_extra` is appended to your prompt of that code. `joined_to` is the code of that other prompt.",
      access,
      body: { key: "prompt", schema: PreviewInput },
      request: { content: "Write an entry for the client {{ client_id }}.", params: { client_id: "7" } },
      answers: { 200: PromptPreview },
      responses: {
        200: { text: "Write an entry for the client 7.", variables: ["client_id"], joined_to: null },
        422: { content: ["line 1, column 4: undefined filter: x"] },
      },
      // Nothing is written, so a repeated request is harmless.
      idempotency: "own",
    },
    async (input) => {
      const { content, code, name, ai_placeholder, params } = input.body;
      const texts = {
        content,
        ...(code !== undefined && { code }),
        ...(name && { name }),
        ai_placeholder: ai_placeholder ?? null,
      };
      const made = await previewOf(ctx, input.caller, tokenOf(input.request), { ...texts, params: paramsOf(params) });
      const shown = { text: made.text, variables: [...made.variables], joined_to: made.joinedTo };
      return warned(ok(shown, { "cache-control": "private, no-store" }), made.unread);
    },
  );
}

/** Parameters of an address are texts. */
function paramsOf(given: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const entries = Object.entries(given);
  if (entries.length > maxParams) throw invalid({ params: [`may have at most ${maxParams} names`] });
  const params: [string, string][] = [];
  for (const [name, value] of entries) {
    if (typeof value !== "string") throw invalid({ [`params.${name.slice(0, 100)}`]: ["must be a string"] });
    if (name.length > 100 || value.length > 10_000)
      throw invalid({ params: ["may have names of at most 100 characters and values of at most 10000"] });
    params.push([name, value]);
  }
  return Object.fromEntries(params);
}

function cascadeRoute({ accounts, sql, builtIn }: PromptsContext): Route {
  return route(
    "GET",
    "/core/prompts/cascade",
    {
      summary: "Why somebody gets the prompt of a code",
      description:
        "All prompts with this code that are for you, in the order of the cascade: the first one is used, and it hides the " +
        "others. `extras` are the same for `<code>_extra`. Administrators may ask for another person.",
      access,
      query: { code: "the code, without `_extra`", user_id: "for administrators: another person" },
      asks: { code: "entry" },
      answers: { 200: PromptCascade },
      responses: { 200: cascadeExample, 403: { error: "…" }, 422: { code: ["is required"] } },
    },
    async ({ caller, query }) => {
      const code = query.get("code") ?? "";
      if (!/^[\w.-]{1,100}$/.test(code)) throw invalid({ code: [code === "" ? "is required" : "is no code"] });
      const reader = await readerOf(caller, query.get("user_id"), accounts);
      const accountId = caller.account.id;
      const [rows, units] = await Promise.all([
        named(sql, accountId, [code, code + suffix]),
        accounts.unitsOf(accountId, reader.id),
      ]);
      const nameOf = ({ scope, scopeId }: Step) =>
        scope === "user" ? reader.name : (units.find(({ kind, id }) => kind === scope && id === scopeId)?.name ?? null);
      const toApi = (step: Step) => ({
        id: step.id,
        name: step.name,
        scope: step.scope,
        scope_id: step.scopeId,
        scope_name: nameOf(step),
        version: step.version,
        plugin: step.plugin,
        used: step.used,
      });
      const { prompts, extras } = explained(rows, builtIn, code, reader);
      const answered = { code, user_id: reader.id, user_name: reader.name };
      return ok({ ...answered, prompts: prompts.map(toApi), extras: extras.map(toApi) });
    },
  );
}

const builtInStep = { id: null, scope_id: null, scope_name: null, version: null, plugin: "work", used: false } as const;
const cascadeExample = {
  code: "workinfo_new",
  user_id: 1,
  user_name: "Anna",
  prompts: [
    {
      id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
      name: "Work entry",
      scope: "account",
      scope_id: null,
      scope_name: null,
      version: 2,
      plugin: null,
      used: true,
    },
    { ...builtInStep, name: "New work entry", scope: "built_in" },
  ],
  extras: [],
};

async function readerOf(
  { account, user }: Caller,
  given: string | null,
  accounts: Pick<Accounts, "access">,
): Promise<User> {
  if (given === null || given === "" || given === String(user.id)) return user;
  if (user.role !== "admin") throw forbidden("only administrators may ask for another person");
  const found = /^[1-9]\d{0,14}$/.test(given) ? await accounts.access(Number(given)) : undefined;
  if (found?.account.id !== account.id) throw invalid({ user_id: ["names no person of this account"] });
  return found.user;
}

function wordsRoute({ liquid }: PromptsContext): Route {
  return route(
    "GET",
    "/core/prompts/words",
    {
      summary: "The words of the language that prompts are written in",
      description: "For completion: the variables that the server fills in, and the filters that it knows.",
      access,
      answers: { 200: PromptWords },
      responses: {
        200: { variables: documentedVariables.slice(0, 1), filters: ["api_block", "append", "prompt_url"] },
      },
    },
    () => ok({ variables: [...documentedVariables], filters: liquid.filterNames() }),
  );
}

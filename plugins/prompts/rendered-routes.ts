import {
  answer,
  credentialOf,
  list,
  notFound,
  pageOf,
  pageQuery,
  route,
  text,
  type Caller,
  type Route,
} from "platform";
import type { Tokens } from "../tokens/api.ts";
import { BuiltInPrompt, Markdown } from "./answers.ts";
import type { BuiltIn } from "./built-in.ts";
import type { Renderer } from "./render.ts";

const markdown = "text/markdown; charset=utf-8";

interface Needed {
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
  readonly render: Renderer;
  readonly tokens: Tokens;
}

/** Prompts as agents read them: sign-in is required, but no privilege. behaviour 4.1, B.4. */
export function renderedRoutes({ builtIn, render, tokens }: Needed): Route[] {
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
        const { name, text: body } = await render({
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

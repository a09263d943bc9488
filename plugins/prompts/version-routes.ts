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
  uuidOf,
  type Route,
} from "platform";
import { Prompt, PromptVersion } from "./answers.ts";
import { access, ifMatch, shown, updatedExample, versionExample } from "./routes.ts";
import { keptVersions, versionToApi } from "./store.ts";
import type { VersionStore } from "./version-store.ts";
import type { Author, PromptWriter } from "./write.ts";

interface Needed {
  readonly versionStore: VersionStore;
  readonly promptWriter: PromptWriter;
  readonly authorOf: (input: { request: Request; caller: Author["caller"] }) => Author;
}

/** behaviour B.10, for prompts too. */
export function versionRoutes({ versionStore, promptWriter, authorOf }: Needed): Route[] {
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
      async ({ caller, params, query }) => {
        const { id } = await promptWriter.find(caller, uuidOf(params.id));
        return pageReply(await versionStore.list(caller.account.id, caller.user, id, pageOf(query)), versionToApi);
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
        answers: { 200: Prompt },
        responses: { 200: updatedExample, 422: { code: ["is already taken"] } },
      },
      async (input) => {
        const id = uuidOf(input.params.id);
        const version = integerId(input.params.n);
        if (version > maxVersion) throw notFound();
        const expected = expectedVersion(input.request, id);
        return ok(...shown(await promptWriter.restore(authorOf(input), id, version, expected)));
      },
    ),
  ];
}

/** The largest value of the column. */
const maxVersion = 2 ** 31 - 1;

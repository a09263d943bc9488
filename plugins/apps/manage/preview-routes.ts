import * as builds from "../build/builds.ts";
import { field, ok, route, Type, cacheKey, invalid, parseCacheKey, randomToken, sha256, uuidv7 } from "platform";
import type { Route, Caller } from "platform";
import { AppPreview } from "../answers.ts";
import type { AppsContext } from "../context.ts";
import type { AppPatch } from "../fields.ts";
import { App, findApp } from "./app.ts";
import { applied, blank, checkPatch, mustBeAllowedToDraft, mustOpenAll } from "./patch.ts";
import type { PreviewApp } from "../serve/page.ts";
import * as appStore from "../store.ts";
import type { PreviewRow } from "../store.ts";

const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const Id = Type.Optional(field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" })));
type Draft = AppPatch & { readonly id?: string | null };
const PreviewInput = Type.Object({ ...App.bodies.change.properties, id: Id });
const { db_code: _, actions: __, ...requestExample } = App.examples.request;

export function previewRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "POST",
      "/core/apps/preview",
      {
        summary: "Compile an app without saving it",
        description:
          "The page is at `url` for ten minutes, for you alone. With the `id` of a saved app it is a draft of that app: " +
          "missing fields come from the saved app, and its database and actions can be used. `source_lines` has for each line " +
          "of the compiled code the line of the source that it comes from, and 0 where none does; null where the source " +
          "runs as it is.",
        access: { privilege: App.privilege },
        body: { key: "app", schema: PreviewInput },
        request: requestExample,
        answers: { 200: AppPreview },
        responses: {
          200: { url: "/a/preview/3q2-7w…", expires_at: "2026-01-31T10:10:00.000Z", source_lines: [0, 2, 2, 4] },
          422: { source_code: ["3:14 Unexpected token"] },
        },
      },
      async ({ caller, body }) => {
        const { token, expiresAt, lines = null } = await makePreview(ctx, caller, body);
        return ok({ url: `/a/preview/${token}`, expires_at: expiresAt, source_lines: lines });
      },
    ),
  ];
}

// Compiles an app without saving it, for its author.

const livesMs = 10 * 60_000;
const mostPerPerson = 20;

export async function loadPreview(ctx: AppsContext, key: string): Promise<PreviewApp | undefined> {
  const { accountId, name: hash } = parseCacheKey(key);
  const row = await appStore.findPreview(ctx.sql, accountId, hash);
  return row && previewApp(row);
}

/** `id` names the saved app that this is a draft of: the preview then uses its actions, storage and database. */
export async function makePreview(ctx: AppsContext, caller: Caller, { id, ...given }: Draft) {
  const { account, user } = caller;
  checkPatch(given);
  const saved = id ? await findApp(ctx.sql, account.id, { id }) : undefined;
  if (id && !saved) throw invalid({ id: ["names no app"] });
  const app = applied(saved ?? { ...blank, name: "Preview" }, given);
  if (saved) mustBeAllowedToDraft(caller, saved, app);
  await mustOpenAll(ctx.databases, caller, saved, app);
  if (!/\S/.test(app.sourceCode)) throw invalid({ source_code: ["can't be blank"] });
  const { appCode, cssCode, lines } = await builds.buildOf(ctx, app, account.id);
  const token = randomToken();
  const expiresAt = new Date(Date.now() + livesMs);
  const { name, appEngine, cssEngine, fields, config } = app;
  const whose = { tokenHash: sha256(token), accountId: account.id, userId: user.id, appId: saved?.id ?? null };
  const row = { ...whose, name, appEngine, cssEngine, appCode, cssCode, fields, config, expiresAt };
  await ctx.transaction((tx) => appStore.insertPreview(tx, row, mostPerPerson));
  return { token, expiresAt, lines };
}

export async function findPreview(ctx: AppsContext, accountId: number, token: string): Promise<PreviewApp | undefined> {
  if (token.length > 100) return undefined;
  const key = cacheKey(accountId, sha256(token));
  const found = ctx.previews.peek(key) ?? (await ctx.previews.get(key));
  return found && found.expiresAt.getTime() > Date.now() ? found : undefined;
}

function previewApp(row: PreviewRow): PreviewApp {
  const { accountId, userId, name, appEngine, cssEngine, appCode, cssCode, fields, dbCode, expiresAt } = row;
  // Without a saved app its token names no app, so nothing on the server is open to it.
  const id = row.appId ?? uuidv7();
  const code = { name, appEngine, cssEngine, appCode, cssCode, fields };
  return {
    id,
    accountId,
    urlCode: "",
    ...code,
    public: false,
    trusted: false,
    dbCode,
    madeById: userId,
    isDraft: row.appId !== null,
    expiresAt,
  };
}

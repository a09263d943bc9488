/** The builds of saved apps: a failed one changes nothing, and one by another toolchain: ctx.compiler.toolchain is replaced. behaviour B.10. */
import { invalid, ValidationError } from "platform";
import type { AppRow, Build, SavedFields, ServedRow } from "../store.ts";
import * as appStore from "../store.ts";
import type { AppsContext } from "../context.ts";

/** Throws the 422 if the build fails. */
export async function buildOf(
  ctx: AppsContext,
  { appEngine, cssEngine, sourceCode: source }: Pick<SavedFields, "appEngine" | "cssEngine" | "sourceCode">,
  accountId: number,
): Promise<Build> {
  const result = await ctx.compiler.compile({ appEngine, cssEngine, source }, accountId);
  if (!result.ok) throw invalid({ source_code: [...result.mistakes] });
  return { ...result.compiled, toolchain: ctx.compiler.toolchain };
}

/** The same for a change of a saved app. A failed build is also reported to the app's authors on its page. */
export async function buildOfChange(
  ctx: AppsContext,
  app: SavedFields,
  { accountId, id }: Pick<AppRow, "accountId" | "id">,
  noted: () => Promise<void>,
): Promise<Build> {
  try {
    return await buildOf(ctx, app, accountId);
  } catch (error) {
    if (error instanceof ValidationError) {
      await appStore.noteFailed(ctx.sql, accountId, id, error.fields["source_code"] ?? []);
      await noted();
    }
    throw error;
  }
}

/** The app, rebuilt if a compiler or a runtime has changed since its last build. If that fails, the old build stays. */
export async function currentBuild(ctx: AppsContext, row: ServedRow): Promise<ServedRow> {
  if (row.toolchain === ctx.compiler.toolchain) return row;
  const app = await appStore.sourceOf(ctx.sql, row.accountId, row.id);
  if (!app || app.version !== row.version) return row;
  const { appEngine, cssEngine, sourceCode: source } = app;
  const result = await ctx.compiler.compile({ appEngine, cssEngine, source }, row.accountId);
  if (!result.ok) {
    ctx.log.warn("an app no longer builds", { app_id: row.id, mistakes: result.mistakes.slice(0, 3) });
    return row;
  }
  const { appCode, cssCode } = result.compiled;
  await appStore.saveBuild(ctx.sql, row.accountId, row.id, row.version, {
    ...result.compiled,
    toolchain: ctx.compiler.toolchain,
  });
  return { ...row, appCode, cssCode, toolchain: ctx.compiler.toolchain };
}

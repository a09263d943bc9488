/** The builds of saved apps: a failed one changes nothing, and one by another toolchain is replaced. behaviour B.10. */
import { invalid, ValidationError, type BaseContext } from "platform";
import type { BuildStore } from "./build-store.ts";
import type { Compiler } from "./compile.ts";
import type { AppRow, AppStore, Build, Saved, ServedRow } from "../store.ts";

interface Needed {
  readonly log: BaseContext["log"];
  readonly appStore: Pick<AppStore, "find">;
  readonly buildStore: Pick<BuildStore, "noteFailed" | "save">;
  readonly compiler: Compiler;
}

export type Builds = ReturnType<typeof createBuilds>;

export function createBuilds({ log, appStore, buildStore, compiler }: Needed) {
  const { toolchain } = compiler;

  /** Throws the 422 if the build fails. */
  const buildOf = async ({ appEngine, cssEngine, sourceCode: source }: Saved, accountId: number): Promise<Build> => {
    const result = await compiler.compile({ appEngine, cssEngine, source }, accountId);
    if (!result.ok) throw invalid({ source_code: [...result.mistakes] });
    return { ...result.compiled, toolchain };
  };

  return {
    buildOf,

    /** The same for a change of a saved app. A failed build is also reported to the app's authors on its page. */
    async buildOfChange(app: Saved, { accountId, id }: AppRow, noted: () => Promise<void>): Promise<Build> {
      try {
        return await buildOf(app, accountId);
      } catch (error) {
        if (error instanceof ValidationError) {
          await buildStore.noteFailed(accountId, id, error.fields["source_code"] ?? []);
          await noted();
        }
        throw error;
      }
    },

    /** The app, rebuilt if a compiler or a runtime has changed since its last build. If that fails, the old build stays. */
    async current(row: ServedRow): Promise<ServedRow> {
      if (row.toolchain === toolchain) return row;
      const app = await appStore.find(row.accountId, row.id);
      if (!app || app.version !== row.version) return row;
      const { appEngine, cssEngine, sourceCode: source } = app;
      const result = await compiler.compile({ appEngine, cssEngine, source }, row.accountId);
      if (!result.ok) {
        log.warn("an app no longer builds", { app_id: row.id, mistakes: result.mistakes.slice(0, 3) });
        return row;
      }
      const { appCode, cssCode } = result.compiled;
      await buildStore.save(row.accountId, row.id, row.version, { ...result.compiled, toolchain });
      return { ...row, appCode, cssCode, toolchain };
    },
  };
}

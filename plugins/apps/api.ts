/** The API of `/core/apps` without HTTP, for other plugins and commands. */
import { service } from "platform";
import type { NewApp } from "./fields.ts";

export type { NewApp } from "./fields.ts";

export interface Apps {
  /**
   * Creates the app with this url_code, or updates the existing one. Throws the 422 by field; a failed build is under
   * `source_code`. `userId` null = no person (a command).
   */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    app: NewApp & { readonly url_code: string },
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** The system text of the app with this id or url_code: null if it has none, undefined if there is no such app. */
  promptOf(accountId: number, key: string): Promise<string | null | undefined>;
}

export const apps = service<Apps>("apps");

/** Context of this plugin's functions. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Tokens } from "../tokens/api.ts";
import type { BuiltIn } from "./built-in.ts";
import type { Sources } from "./sources.ts";

export interface PromptsContext extends BaseContext {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  /** By their codes. */
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
  readonly sources: Sources;
  readonly forget: Sources["forget"];
}

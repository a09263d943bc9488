/** The service `prompts`: what a model is told by a prompt, for other plugins. */
import { service, type Account, type User } from "platform";

/** A prompt with its variables filled in. */
export interface Rendered {
  readonly name: string | null;
  readonly kind: "chat" | "agent";
  readonly text: string;
  /** Names each given variable that the prompt does not use. */
  readonly unread: readonly string[];
}

/** A prompt that a model is told: `TOKEN` is empty in it, because a conversation needs none. */
export interface Prompts {
  /** By its code as this person's cascade finds it, or by its id. Throws the 404, and the 422 of its Liquid. */
  renderFor(
    reader: { readonly account: Account; readonly user: User },
    key: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Rendered>;
  /** By its code, for nobody in particular: the account's, else the built-in one. Throws the same. */
  renderForAccount(accountId: number, code: string, variables: Readonly<Record<string, unknown>>): Promise<Rendered>;
}

export const prompts = service<Prompts>("prompts");

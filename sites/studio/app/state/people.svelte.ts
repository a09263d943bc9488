/** The names of people by their ids, e.g. of those who have made versions. */
import { lookupChoices } from "../resources/lookup.ts";
import { session } from "./session.svelte.ts";

export class People {
  private names = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** Without an answer, numbers do as well. */
  load(): void {
    const users = session.resources.find(({ path }) => path === "/account/users");
    if (!users) return;
    lookupChoices({ resource: users, field: "id" }).then(
      (choices) => (this.names = new Map(choices.map(({ value, label }) => [value, label.replace(` (${value})`, "")]))),
      () => undefined,
    );
  }

  nameOf(id: string): string | undefined {
    return this.names.get(id) ?? (id === String(session.person.id) ? session.person.name : undefined);
  }
}

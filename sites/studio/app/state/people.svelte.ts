/** The names of people by their ids, e.g. of those who have made versions. */
import { lookupChoices, type Choice } from "../resources/lookup.ts";
import { session } from "./session.svelte.ts";

export class People {
  all = $state.raw<readonly Choice[]>([]);

  /** Without an answer, numbers do as well. */
  load(): void {
    const users = session.resources.find(({ path }) => path === "/account/users");
    if (!users) return;
    lookupChoices({ resource: users, field: "id" }).then(
      (choices) => (this.all = choices),
      () => undefined,
    );
  }

  nameOf(id: string): string | undefined {
    return (
      this.all.find(({ value }) => value === id)?.label ??
      (id === String(session.person.id) ? session.person.name : undefined)
    );
  }
}

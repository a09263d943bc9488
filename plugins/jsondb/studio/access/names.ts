/** What people call those who a grant is for. */
import { session } from "studio";
import { roles } from "./grants.ts";
import type { Sharing } from "./sharing.svelte.ts";
import { say } from "./words.ts";

const kindWords = { user: "person", team: "team", department: "department", group: "group", role: "role" } as const;

function isKind(kind: string): kind is keyof typeof kindWords {
  return Object.hasOwn(kindWords, kind);
}

const roleWords = { admin: "roleAdmin", manager: "roleManager", user: "roleUser", guest: "roleGuest" } as const;

/** Beside the people and units: everyone, and the roles that every account has. */
export function fixedSubjects(): { value: string; label: string }[] {
  return [
    { value: "everyone", label: say("everyone") },
    ...roles.map((role) => ({ value: `role:${role}`, label: say(roleWords[role]) })),
  ];
}

export function subjectName(to: string, { subjects }: Pick<Sharing, "subjects">): string {
  const known = [...subjects, ...fixedSubjects()].find(({ value }) => value === to);
  if (known) return known.label;
  if (to === `user:${session.person.id}`) return session.person.name || session.person.login;
  return `${subjectKind(to)} ${to.split(":")[1] ?? ""}`.trim();
}

/** What it is: a person, a team … */
export function subjectKind(to: string): string {
  if (to === `user:${session.person.id}`) return say("you");
  const [kind = ""] = to.split(":");
  return isKind(kind) ? say(kindWords[kind]) : say("everyoneText");
}

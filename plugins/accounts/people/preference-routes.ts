import {
  answer,
  contentHash,
  etag,
  expectedVersion,
  field,
  invalid,
  jsonText,
  mustMatch,
  route,
  Type,
  type BaseContext,
  type Caller,
  type Route,
} from "platform";
import type { PreferenceStore } from "./preference-store.ts";

const access = { signedIn: "they are one's own" } as const;
const example = { "studio.dashboard": { tiles: [{ app: "019a9c1e-0000-7000-8000-000000000003", width: 2 }] } };
const most = { names: 100, chars: 16_384 } as const;

const Preferences = answer.json();

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly preferenceStore: PreferenceStore;
}

/** `/account/me/preferences`: JSON that user interfaces keep for a person. */
export function preferenceRoutes({ ctx, preferenceStore }: Needed): Route[] {
  const shown = async ({ account, user }: Caller) => {
    const text = await preferenceStore.ofPerson({ accountId: account.id, userId: user.id });
    return jsonText(200, text, { etag: etag(user.id, versionOf(text)) });
  };
  return [
    route(
      "GET",
      "/account/me/preferences",
      {
        summary: "One's own preferences",
        description: "What user interfaces keep for a person, by name: saved views, columns, the tiles of a dashboard.",
        access,
        answers: { 200: Preferences },
        responses: { 200: example },
      },
      ({ caller }) => shown(caller),
    ),
    route(
      "PATCH",
      "/account/me/preferences",
      {
        summary: "Change one's own preferences",
        description: `By name; \`null\` removes one, others stay. All or none. At most ${most.names} names of 100 characters (letters, digits, \`.\`, \`_\`, \`:\`, \`-\`), each with ${most.chars} characters of JSON.`,
        access,
        ifMatch: true,
        body: { schema: Type.Object({ preferences: field.object() }) },
        request: { preferences: example },
        answers: { 200: Preferences },
        responses: { 200: example, 422: { "studio.dashboard": [`may have at most ${most.chars} characters of JSON`] } },
      },
      async ({ caller, body, request }) => {
        const changes = checked(body.preferences);
        const whose = { accountId: caller.account.id, userId: caller.user.id };
        const expected = expectedVersion(request, caller.user.id, 16);
        await ctx.transaction(async (tx) => {
          await preferenceStore.lock(tx, whose);
          mustMatch({ version: versionOf(await preferenceStore.ofPerson(whose, tx)) }, expected);
          const count = await preferenceStore.save(tx, whose, changes);
          if (count > most.names) throw invalid({ preferences: [`may have at most ${most.names} names`] });
        });
        return shown(caller);
      },
    ),
  ];
}

/** They are kept one by one, so the number that tells one state of all of them from another is made of their text. */
function versionOf(text: string): number {
  return Number.parseInt(contentHash(text).split("-")[1]?.slice(0, 9) ?? "", 36) || 1;
}

/** Name -> JSON text, or null. */
function checked(given: Readonly<Record<string, unknown>>): Map<string, string | null> {
  const entries = Object.entries(given);
  if (entries.length > most.names) throw invalid({ preferences: [`may have at most ${most.names} names`] });
  return new Map(
    entries.map(([name, value]) => {
      if (!/^[A-Za-z0-9._:-]{1,100}$/.test(name))
        throw invalid({ preferences: ["has a name that is not 1 to 100 letters, digits, dots, colons, - or _"] });
      const text = value === null ? null : JSON.stringify(value);
      if (text !== null && text.length > most.chars)
        throw invalid({ [name]: [`may have at most ${most.chars} characters of JSON`] });
      return [name, text];
    }),
  );
}

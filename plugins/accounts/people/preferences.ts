/** Preferences of a person that the server itself follows; it checks them alone. behaviour B.1. */
import type { Queryable } from "platform";
import { languages } from "../../mail/api.ts";
import type { MailPreferences } from "../api.ts";
import { preferencesNamed } from "./account-store.ts";

const isLanguage = (value: unknown) => languages.some((language) => language === value);

const known = new Map<string, { readonly fits: (value: unknown) => boolean; readonly message: string }>([
  ["mail.mentions", { fits: (value) => typeof value === "boolean", message: "must be true or false" }],
  ["mail.language", { fits: isLanguage, message: `must be ${languages.join(", ")}` }],
]);

/** What is wrong with the value of a preference; nothing is with those that user interfaces make up. */
export function preferenceFault(name: string, value: unknown): string | undefined {
  const rule = known.get(name);
  return rule === undefined || value === null || rule.fits(value) ? undefined : rule.message;
}

export async function mailPreferences(
  on: Queryable,
  accountId: number,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, MailPreferences>> {
  const rows = userIds.length === 0 ? [] : await preferencesNamed(on, accountId, userIds, [...known.keys()]);
  return new Map(
    [...Map.groupBy(rows, ({ userId }) => userId)].map(([userId, own]) => {
      const values = new Map<string, unknown>(own.map(({ name, value }) => [name, JSON.parse(value)]));
      const language = languages.find((one) => one === values.get("mail.language"));
      return [userId, { mentions: values.get("mail.mentions") !== false, ...(language && { language }) }];
    }),
  );
}

/** Settings with a value for each account. Plugins declare them as `accountSettings`; no HTTP, no SQL. */
import { answer, forbidden, isNumber, mustMatch, setting, Type, ValidationError } from "platform";
import type { BaseContext, Caller, ConfigOf, PluginFacts, Settings, Static, Tx } from "platform";
import type { Accounts } from "../api.ts";
import { nextSettingsVersion, saveSettings, settingsOf } from "./account-store.ts";
import { nameSetting } from "./brand.ts";

type Setting = Settings[string];

interface DeclaredSetting {
  readonly plugin: string;
  readonly setting: Setting;
}

/** A setting as the API shows it. */
export const AccountSetting = answer.object("AccountSetting", {
  name: Type.String(),
  plugin: Type.String(),
  doc: Type.String(),
  value: Type.String(),
  standard: Type.String(),
  /** The only values that there are; empty = others too. */
  choices: answer.list(Type.String()),
});

type StoredSettings = Awaited<ReturnType<typeof settingsOf>>;
const nothing: StoredSettings = { version: 0, values: {} };

export type AccountSettings = ReturnType<typeof createAccountSettings>;

/** `renamed` is told of accounts that have another name. */
export function createAccountSettings(
  ctx: Pick<BaseContext, "cache" | "plugins" | "sql" | "transaction">,
  renamed: (accountId: number) => Promise<void>,
) {
  const declared = declaredBy(ctx.plugins);
  const values = ctx.cache<StoredSettings>({
    name: "accounts.settings",
    max: 1_000,
    load: (accountId) => settingsOf(ctx.sql, Number(accountId)),
  });
  const stored = async (accountId: number, tx?: Tx): Promise<StoredSettings> => {
    // A load would take a second connection, for which all that hold one could wait.
    if (tx) return values.peek(`${accountId}`) ?? settingsOf(tx, accountId);
    return (await values.get(`${accountId}`)) ?? nothing;
  };

  /** Parsed values, by the settings that were requested: every write of a record requests them. */
  const read = new WeakMap<StoredSettings, WeakMap<Settings, unknown>>();

  const of: Accounts["settingsOf"] = async <S extends Settings>(accountId: number, settings: S, tx?: Tx) => {
    const from = await stored(accountId, tx);
    const known = read.get(from) ?? new WeakMap<Settings, unknown>();
    read.set(from, known);
    if (!known.has(settings)) known.set(settings, setting.readSettings(settings, from.values));
    // It was read by these very settings.
    return known.get(settings) as ConfigOf<S>;
  };

  return {
    of,

    list: async (accountId: number): Promise<{ settings: Static<typeof AccountSetting>[]; version: number }> => {
      const { values: given, version } = await stored(accountId);
      const settings = [...declared].map(
        ([
          name,
          {
            plugin,
            setting: { doc, standard, choices = [] },
          },
        ]) => {
          return { name, plugin, doc, standard, choices, value: given[name] ?? standard };
        },
      );
      return { settings, version };
    },

    /**
     * Null gives a setting its standard value again. Throws the 422 by name. `expected` is the version that the caller
     * has seen; undefined = any.
     */
    save: async (
      caller: Caller,
      given: Readonly<Record<string, unknown>>,
      expected: number | undefined,
    ): Promise<void> => {
      const accountId = caller.account.id;
      const changes = checked(declared, given);
      const locked = [...changes.keys()].find((name) => declared.get(name)?.setting.adminOnly);
      // A narrowed token must not loosen what protects its owner.
      if (locked !== undefined && (caller.user.role !== "admin" || caller.narrowedTo.length > 0))
        throw forbidden(`only administrators change ${locked}`);
      await ctx.transaction(async (tx) => {
        mustMatch({ version: (await nextSettingsVersion(tx, accountId)) - 1 }, expected);
        await saveSettings(tx, accountId, caller.user.id, changes);
      });
      await values.invalidate(`${accountId}`);
      if (changes.has(nameSetting)) await renamed(accountId);
    },
  };
}

/** Throws if two plugins declare one name, because a request could mean either. */
function declaredBy(plugins: readonly PluginFacts[]): ReadonlyMap<string, DeclaredSetting> {
  const declared = new Map<string, DeclaredSetting>();
  for (const { name: plugin, accountSettings } of plugins) {
    for (const one of Object.values(accountSettings)) {
      const other = declared.get(one.env);
      if (other)
        throw new Error(`plugins "${other.plugin}" and "${plugin}" both declare the account setting "${one.env}"`);
      declared.set(one.env, { plugin, setting: one });
    }
  }
  return declared;
}

function checked(
  declared: ReadonlyMap<string, DeclaredSetting>,
  given: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string | null> {
  const changes = new Map<string, string | null>();
  // A map, because a name may be `__proto__`.
  const mistakes = new Map<string, string[]>();
  for (const [name, value] of Object.entries(given)) {
    const known = declared.get(name)?.setting;
    if (!known) mistakes.set(name, ["is not a setting of an account"]);
    else if (value === null) changes.set(name, null);
    else if (typeof value === "string" || isNumber(value) || typeof value === "boolean") {
      const text = String(value);
      const wrong = mistakeIn(known, text);
      if (wrong) mistakes.set(name, [wrong]);
      else changes.set(name, text);
    } else mistakes.set(name, ["must be a text, a number, true, false or null"]);
  }
  if (mistakes.size > 0) throw new ValidationError(Object.fromEntries(mistakes));
  return changes;
}

const maxChars = 10_000;

function mistakeIn(known: Setting, text: string): string | undefined {
  if (text.length > maxChars) return `must have at most ${maxChars} characters`;
  try {
    known.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

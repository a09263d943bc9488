/** The JSON file that plans a migration to several languages (behaviour A.8). */
import { checkerOf, field, parseJson, Type, ValidationError, HttpError, type Static } from "platform";
import { locales } from "../locales.ts";

const locale = () => field.oneOf(locales);
const code = () => field.name(100);

export const PlanBody = Type.Object({
  /** `site.locale`: the primary language (A.8.4). */
  locale: locale(),
  domains: Type.Optional(
    Type.Array(
      Type.Object({
        name: field.name(),
        locale: Type.Optional(field.nullable(locale())),
        primary: Type.Optional(field.flag()),
      }),
      { maxItems: 1000 },
    ),
  ),
  /** The names of variables with a language suffix ("title" for `title_en`); "all" = every name that looks like one. */
  variables: Type.Optional(Type.Union([Type.Literal("all"), field.names(10_000)])),
  groups: Type.Optional(
    Type.Array(
      Type.Object({
        master: code(),
        path: Type.Optional(Type.String({ maxLength: 4000 })),
        /** Locale of the master; default: the site's. */
        locale: Type.Optional(locale()),
        slaves: Type.Array(
          Type.Object({
            code: code(),
            path: Type.String({ maxLength: 4000 }),
            locale: locale(),
            /** Keeps the slave's own content, if it has any; A.8.3 would empty it. */
            keep_content: Type.Optional(field.flag()),
          }),
          { maxItems: 50 },
        ),
      }),
      { maxItems: 100_000 },
    ),
  ),
});
export type Plan = Static<typeof PlanBody>;

/** The plan does not fit the site. */
export class PlanMistake extends Error {
  override name = "PlanMistake";
}

/** Throws an error that lists all mistakes. */
export function parsePlan(text: string): Plan {
  try {
    return checkerOf(PlanBody)(parseJson(text));
  } catch (error) {
    if (error instanceof ValidationError)
      throw new Error(
        `the plan: ${Object.entries(error.fields)
          .map(([name, messages]) => `${name} ${messages.join(", ")}`)
          .join("; ")}`,
        { cause: error },
      );
    if (error instanceof HttpError) throw new Error(`the plan: ${error.message}`, { cause: error });
    throw error;
  }
}

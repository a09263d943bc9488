/** The plan of a migration to several languages (behaviour A.8), as a JSON file. */
import { checkerOf, field, parseJson, Type, ValidationError, HttpError, type Static } from "platform";
import { locales } from "../locales.ts";

const locale = () => field.oneOf(locales);
const code = () => field.name(100);

const Plan = Type.Object({
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
  /** Names of variables that have a language at their end (`title_en`: "title"); "all" = whatever looks like it. */
  variables: Type.Optional(Type.Union([Type.Literal("all"), field.names(10_000)])),
  groups: Type.Optional(
    Type.Array(
      Type.Object({
        master: code(),
        path: Type.Optional(Type.String({ maxLength: 4000 })),
        /** Of the master; standard: the site's. */
        locale: Type.Optional(locale()),
        slaves: Type.Array(
          Type.Object({
            code: code(),
            path: Type.String({ maxLength: 4000 }),
            locale: locale(),
            /** Its own content stays, where it has any; A.8.3 empties it. */
            keep_content: Type.Optional(field.flag()),
          }),
          { maxItems: 50 },
        ),
      }),
      { maxItems: 100_000 },
    ),
  ),
});
export type Plan = Static<typeof Plan>;

/** Throws what is wrong with it. */
export function parsePlan(text: string): Plan {
  try {
    return checkerOf(Plan)(parseJson(text));
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

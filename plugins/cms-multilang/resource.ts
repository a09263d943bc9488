/** A kind of record, as routes, imports and commands see it: they treat all alike. */
import type { Page, Queryable, Sql, Static, TObject, TSchema } from "platform";
import type { Ref, SiteRef } from "./code.ts";
import type { Listed } from "./lists.ts";
import type { Writer } from "./write.ts";

export interface Kept {
  readonly id: number;
  readonly version: number;
}

export interface Resource<Body extends TObject, Row extends Kept> {
  /** The key of the body, and the name in messages. */
  readonly name: string;
  /** The last part of its address. */
  readonly plural: string;
  readonly body: Body;
  readonly writer: Writer<Static<Body>, Row>;
  /** Whether codes are unique only within a site, so that an address may have to name the site. */
  readonly inSites: boolean;
  /** The id or code in an address; undefined if the text can be neither. */
  readonly refOf: (text: string, site?: SiteRef) => Ref | undefined;
  readonly find: (db: Queryable, accountId: number, ref: Ref) => Promise<Row | undefined>;
  readonly list: (sql: Sql, accountId: number, query: URLSearchParams, page: Page) => Promise<Listed<Row>>;
  readonly toApi: (row: Row) => Readonly<Record<string, unknown>>;
}

/** A resource with its documentation. */
export interface Documented {
  /** The query parameters of its list, with their descriptions. */
  readonly filters: Readonly<Record<string, string | TSchema>>;
  /** What creating does apart from storing the fields, and what changing does. */
  readonly about: string;
  readonly deleting?: string;
  /** Where a person sees one, with its fields in braces. */
  readonly shownAt?: string;
  /** The schema of an answer. */
  readonly shows: TSchema;
  /** What a new one must have: one field of each group. */
  readonly needs: readonly (readonly string[])[];
  readonly request: unknown;
  readonly change: unknown;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refusal: Readonly<Record<string, readonly string[]>>;
}

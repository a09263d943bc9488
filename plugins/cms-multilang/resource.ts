/** What a kind of record is to the routes, to imports and to commands: they treat all seven alike. */
import type { Page, Queryable, Static, TObject, TSchema } from "platform";
import type { Ref, SiteRef } from "./code.ts";
import type { Listed } from "./listed.ts";
import type { Writer } from "./write.ts";

export interface Kept {
  readonly id: number;
  readonly version: number;
}

export interface Resource<Body extends TObject, Row extends Kept> {
  /** The body's key, and the name in messages. */
  readonly name: string;
  /** The last part of its address. */
  readonly plural: string;
  readonly body: Body;
  readonly writer: Writer<Static<Body>, Row>;
  /** Whether its codes are unique in their site, so that an address may have to name that. */
  readonly inSites: boolean;
  /** The id or code of an address; undefined = neither. */
  readonly refOf: (text: string, site?: SiteRef) => Ref | undefined;
  readonly find: (db: Queryable, accountId: number, ref: Ref) => Promise<Row | undefined>;
  readonly list: (accountId: number, query: URLSearchParams, page: Page) => Promise<Listed<Row>>;
  readonly toApi: (row: Row) => Readonly<Record<string, unknown>>;
}

/** A resource with its documentation. */
export interface Documented {
  /** The query parameters of its list, and what each means. */
  readonly filters: Readonly<Record<string, string | TSchema>>;
  /** What making one does beyond the fields, and what changing and deleting one does. */
  readonly about: string;
  readonly deleting?: string;
  /** What one is shown as. */
  readonly shows: TSchema;
  readonly request: unknown;
  readonly change: unknown;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refusal: Readonly<Record<string, readonly string[]>>;
}

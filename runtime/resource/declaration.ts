/** Types of a resource's declaration, and types derived from it. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { mistakes } from "../base/errors.ts";
import type { Caller } from "../http/auth.ts";
import type { Fragment, Sql, Tx } from "../db/db.ts";
import type { BaseContext } from "../plugin/plugin.ts";
import type { DraftOf, Field, Fields, GivenOf, IdKind, IdOf, Label, NewOf, PatchOf, RowOf } from "./fields.ts";
import type { ResourceFacts } from "../plugin/facts.ts";
import type { Filters } from "./filter-store.ts";

/** Who makes a change: a caller, or no person. */
export interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
}

/** Arguments of every function of a resource; a plugin's own context has more. */
export interface At<By extends Author = Caller> extends Pick<
  BaseContext,
  "sql" | "transaction" | "committed" | "secrets" | "changed" | "now" | "names"
> {
  readonly caller: By;
}

export type Mistakes = ReturnType<typeof mistakes>;

/** A change before it is written. */
export interface Change<F extends Fields, I extends IdKind> {
  readonly tx: Tx;
  /** The row's, of a new one too: something may be sealed for it. */
  readonly id: IdOf<I>;
  readonly given: PatchOf<F>;
  /** The row that is changed, locked; undefined for a new one. */
  readonly before: RowOf<F, I> | undefined;
  /** The given fields over those before, or over the blank ones. */
  readonly after: GivenOf<F>;
}

/** A change that is written. `before` is undefined for a new row, `after` for one that is deleted. */
export interface Changed<F extends Fields, I extends IdKind> {
  readonly before: RowOf<F, I> | undefined;
  readonly after: RowOf<F, I> | undefined;
}

/** Documentation of one route in /openapi.json. */
interface RouteDoc {
  readonly summary?: string;
  readonly description?: string;
  /** Examples of refusals by status. */
  readonly refusals?: Readonly<Record<number, unknown>>;
}

export type Verb = "list" | "get" | "create" | "change" | "delete";

export interface Rules<F extends Fields, I extends IdKind, More extends Derivations, A extends At<Author>> {
  /** Throws the 403 of who may not do this to any row; the privilege is asked for already. */
  readonly may?: (at: A, verb: "create" | "change" | "delete") => void;
  /** First in the transaction of a change, before its row is held: waits for other changes. */
  readonly begin?: (at: A, tx: Tx) => Promise<void>;
  /** Throws the 403 or 422 of who may not delete this row. */
  readonly mayErase?: (at: A, row: RowOf<F, I>, tx: Tx) => void | Promise<void>;
  /** Adds what is wrong to `wrong`, throws 403, and returns what is to be written. Default: `after`. */
  readonly check?: (at: A, change: Change<F, I>, wrong: Mistakes) => DraftOf<F> | Promise<DraftOf<F>>;
  /** Writes what other tables keep of a row (`from` of a field), after the row, which is then read again. */
  readonly elsewhere?: (at: A, id: IdOf<I>, draft: DraftOf<F>, tx: Tx) => Promise<void>;
  /**
   * In the transaction, after the row is written or before it is deleted. A function that it returns runs after the
   * commit and before the answer.
   */
  readonly changed?: (at: A, change: Changed<F, I>, tx: Tx) => Promise<AfterCommit | void>;
  /** After the commit and before the answer: caches. */
  readonly committed?: (at: A, change: Changed<F, I>) => void | Promise<void>;
  /** The fields of `derived`. */
  readonly derive?: (at: A, row: RowOf<F, I>) => Derived<More> | Promise<Derived<More>>;
  /** For the header `Warning`, once a change is written: what was accepted and will not do what was meant. */
  readonly hints?: (at: A, row: RowOf<F, I>, given: PatchOf<F>) => readonly string[] | Promise<readonly string[]>;
  /** The rows that exist for this caller; all others are 404. Default: those of the account. `query` is a list's. */
  readonly visible?: (at: A, sql: Sql, query?: URLSearchParams) => Fragment;
  /** An answer as this caller may see it. */
  readonly show?: (at: A, row: RowOf<F, I>, value: Record<string, unknown>) => Record<string, unknown>;
  /** Before rows are read for an answer: writes what waits to be written in them. */
  readonly beforeRead?: (at: A) => Promise<void>;
}

export type AfterCommit = () => void | Promise<void>;

/** Fields of an answer that no column has. */
export type Derivations = Readonly<Record<string, { readonly label: Label; readonly schema: TSchema }>>;

type Derived<More extends Derivations> = { readonly [K in keyof More]: Static<More[K]["schema"]> };

export interface Declaration<
  F extends Fields,
  I extends IdKind,
  More extends Derivations,
  A extends At<Author>,
> extends Rules<F, I, More, A> {
  readonly table: string;
  /** The type's name in /openapi.json; default: its name. */
  readonly type?: string;
  /** Columns that are the same in all of its rows, of a table that has others, too. */
  readonly fixed?: Readonly<Record<string, string>>;
  readonly path: `/${string}`;
  /** An integer is made by the database. */
  readonly id: I;
  /** Addressed by this column too; true: by `code`. */
  readonly byCode?: true | (keyof F & string);
  readonly privilege: string;
  /** Who may use what there is without the privilege: `visible` and the rules decide. */
  readonly or?: string;
  /** Describes what an app's page reaches with its token, then in `at.app`. Default: nothing. */
  readonly apps?: string;
  /** The model's name in the log of activity, and in events if there are any. */
  readonly model: `${string}::${string}`;
  /** The column by which people know a row, if it is none of the usual ones. */
  readonly nameColumn?: keyof F & string;
  /** Whether changes of a row are events of `model`. */
  readonly events?: true | ((row: RowOf<F, I>) => boolean);
  /** How a change holds its row; default: `for no key update`, while others may insert rows that refer to it. */
  readonly lock?: "for update";
  readonly fields: F;
  /** Fields of an answer with one of them that no column has. */
  readonly derived?: More;
  /** Lists and events have them too. */
  readonly derivedInLists?: true;
  /** The order of lists, in SQL; default: `id`. */
  readonly order?: string;
  /** By which columns `order_by` may order lists instead, the default one first. */
  readonly orders?: readonly string[];
  readonly filters?: Filters;
  /** Others name a row by these: `…/used_by.json` lists them, and `Warning` tells who loses a name. */
  readonly named?: {
    readonly noun: string;
    readonly keys: (row: RowOf<F, I>) => readonly string[];
    /** The name of the id in that list's address; default: `id`. */
    readonly param?: string;
  };
  /** The message of a 404. */
  readonly missing?: string;
  /** 422 is `{ errors: { … } }`. */
  readonly errors?: "wrapped";
  /** Which columns say who has written it; default: both. */
  readonly authors?: readonly ("created_by_id" | "updated_by_id")[];
  /** Columns that are none of the resource's: those of the server's own statements. */
  readonly others?: readonly string[];
  readonly example: { readonly id: IdOf<I> } & Partial<Derived<More>>;
  /** The fields of the example of a new one. */
  readonly request: readonly (keyof PatchOf<F> & string)[];
  /** The example of a change, and what it makes of the others. */
  readonly change: { readonly [K in keyof PatchOf<F>]?: unknown };
  /** What the example of a new one has instead. */
  readonly made?: Readonly<Record<string, unknown>>;
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly docs?: Readonly<Partial<Record<Verb, RouteDoc>>>;
}

/** The types of a resource, in one. */
export interface Shape {
  readonly fields: Fields;
  readonly id: IdKind;
  readonly more: Derivations;
  readonly at: At<Author>;
}

export type Row<T extends Shape> = RowOf<T["fields"], T["id"]>;
export type Id<T extends Shape> = IdOf<T["id"]>;
export type New<T extends Shape> = NewOf<T["fields"]>;
export type Patch<T extends Shape> = PatchOf<T["fields"]>;
export type Given<T extends Shape> = GivenOf<T["fields"]>;
export type Draft<T extends Shape> = DraftOf<T["fields"]>;

export interface Resource<T extends Shape>
  extends Omit<Declaration<T["fields"], T["id"], T["more"], T["at"]>, "others">, ResourceFacts {
  readonly each: readonly Each[];
  /** The columns of a row, as statements name them. */
  readonly read: string;
  /** [name in the API, key of the row] */
  readonly shows: readonly (readonly [string, string])[];
  readonly bodies: { readonly create: Typed<New<T>>; readonly change: Typed<Patch<T>> };
  readonly answers: { readonly one: TObject; readonly listed: TObject };
  readonly examples: Readonly<
    Record<"request" | "one" | "made" | "listed" | "changed", Readonly<Record<string, unknown>>>
  >;
  /** Whether an answer tells what changes without a new version. */
  readonly isVolatile: boolean;
}

/** What a statement selects of rows, what an answer shows of them (`toApi`), and its words. */
export interface View extends Pick<Resource<Shape>, "read" | "shows"> {
  readonly answer: TObject;
  readonly example: Readonly<Record<string, unknown>>;
}

/** A field with its names in the API and in a row. */
export interface Each {
  readonly name: string;
  readonly key: string;
  /** Names for the visible part of a secret. */
  readonly info?: { readonly name: string; readonly key: string };
  readonly field: Field;
}

/** A schema whose values have this type. */
export type Typed<T> = TObject & { readonly static: T };

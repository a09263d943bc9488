/** A kind of records of sites: declared once by `resource()`, with what its addresses, lists and files need beside that. */
import { announce, change, create, erase, merged, toApi } from "platform";
import type { column, Derivations, NewOf, PatchOf, Resource, RowOf, Typed } from "platform";
import { refOf, type Ref, type SiteRef } from "./code.ts";
import { hold, there, whichever, type Expected, type SiteEdit } from "./edit.ts";
import { find, type Readable } from "./kind-store.ts";

/** What a kind says beside its resource. */
interface Traits<Row>
  extends Pick<Readable<Row>, "filters" | "byCode">, Partial<Pick<Readable<Row>, "large" | "order">> {
  /** What a new one must have: one field of each group. */
  readonly needs: readonly (readonly string[])[];
  /** Where a person sees one, with its fields in braces. */
  readonly shownAt?: string;
  /** Whether codes are unique only within a site, so that an address may have to name the site; default: true. */
  readonly inSites?: boolean;
  /** The id or code in an address; undefined if the text can be neither. */
  readonly refOf?: (text: string, site?: SiteRef) => Ref | undefined;
  /** The resource's `derived`. */
  readonly derive?: (row: Row) => object;
  /** Deletes one by `erased`, and does what has to follow. */
  readonly remove?: (edit: SiteEdit, erased: () => Promise<Row>, id: number) => Promise<void>;
}

type Told = "each" | "name" | "table" | "path" | "columns" | "others" | "activity" | "read" | "examples" | "docs";

export interface Kind<Row, New = object, Patch = object>
  extends
    Pick<Resource<never>, Told>,
    Readable<Row>,
    Pick<Traits<Row>, "shownAt">,
    Required<Pick<Traits<Row>, "needs" | "inSites" | "refOf">> {
  /** The last part of its address. */
  readonly plural: string;
  readonly derived?: Derivations;
  readonly bodies: { readonly create: Typed<New>; readonly change: Typed<Patch> };
  /** The schema of an answer. */
  readonly answer: Resource<never>["answers"]["one"];
  /** The example of a change. */
  readonly changes: object;
  /** A record as this change would leave it, apart from what `check` makes of it. */
  readonly over: (ctx: Pick<SiteEdit, "secrets">, given: Patch, before: Row) => Row;
  /** Creates, changes and deletes one as a part of an edit whose site is locked: 422 by field, 404, 412. */
  readonly create: (edit: SiteEdit, given: New) => Promise<Row>;
  readonly change: (edit: SiteEdit, id: number, given: Patch, expected: Expected) => Promise<Row>;
  readonly erase: (edit: SiteEdit, id: number, expected: Expected) => Promise<void>;
  /** Emits the event of what a change of another record does to this one. */
  readonly announce: (edit: SiteEdit, kind: "update" | "destroy", row: Row) => Promise<void>;
}

export function kindOf<F extends column.Fields>(
  of: Resource<{ fields: F; id: "integer"; more: Derivations; at: SiteEdit }>,
  traits: Traits<RowOf<F, "integer">>,
): Kind<RowOf<F, "integer">, NewOf<F>, PatchOf<F>> {
  const { derive, remove: removed = async (_, erased) => void (await erased()) } = traits;
  return {
    large: [],
    order: ["id"],
    inSites: true,
    refOf,
    ...traits,
    each: of.each,
    ...(of.derived && { derived: of.derived }),
    name: of.name,
    table: of.table,
    path: of.path,
    columns: of.columns,
    others: of.others,
    activity: of.activity,
    read: of.read,
    examples: of.examples,
    ...(of.docs && { docs: of.docs }),
    plural: of.path.slice(of.path.lastIndexOf("/") + 1),
    bodies: of.bodies,
    answer: of.answers.one,
    changes: of.change,
    over: (ctx, given, before) => ({ ...before, ...merged(of, ctx, before.id, given, before) }),
    toApi: (row) => ({ ...toApi(of, row), ...derive?.(row) }),
    create: (edit, given) => create(of, edit, given),
    change: async (edit, id, given, expected) => (await change(of, edit, { id }, given, expected)).after,
    erase: (edit, id, expected) => removed(edit, () => erase(of, edit, { id }, expected), id),
    announce: (edit, kind, row) => announce(of, edit, kind, row, edit.tx),
  };
}

/** Changes the addressed record: 422 by field, 404, or 412 if its version is not the expected one. */
export async function update<Row, Patch>(
  edit: SiteEdit,
  kind: Readable<Row> & Pick<Kind<Row, never, Patch>, "change">,
  ref: Ref,
  given: Patch,
  expected: Expected = whichever,
): Promise<Row> {
  return kind.change(edit, await held(edit, kind, ref), given, expected);
}

/** Deletes the addressed record: 404, 412. */
export async function remove<Row>(
  edit: SiteEdit,
  kind: Readable<Row> & Pick<Kind<Row>, "erase">,
  ref: Ref,
  expected: Expected = whichever,
): Promise<void> {
  await kind.erase(edit, await held(edit, kind, ref), expected);
}

/** The id of the record, whose site is locked then (all sites, if it belongs to none). Throws 404. */
async function held<Row>(edit: SiteEdit, kind: Readable<Row>, ref: Ref): Promise<number> {
  const { id, siteId } = there(await find(kind, edit.tx, edit.account.id, ref));
  await hold(edit, siteId);
  return id;
}

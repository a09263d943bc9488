/** The five routes of a resource. behaviour B.3. */
import type { TObject, TSchema } from "@sinclair/typebox";
import { forbidden, HttpError } from "../base/errors.ts";
import { answer, pageQuery } from "../http/answers/answers.ts";
import { field } from "../http/answers/fields.ts";
import { etag, expectedVersion } from "../http/answers/etag.ts";
import { pageReply, created, noContent, ok } from "../http/answers/reply.ts";
import { route, type RequestInput, type Route } from "../http/route.ts";
import type { Caller } from "../http/auth.ts";
import { usedByRoute } from "../plugin/naming.ts";
import { warned } from "../http/refusals/warning.ts";
import { pageOf } from "../base/values.ts";
import { narrowedBy, orderedBy } from "./filter-store.ts";
import type { At, Author, New, Patch, Resource, Row, Shape, Verb } from "./declaration.ts";
import { list, looks, type Ref } from "./store.ts";
import { change, create, erase, found, refOf, seen, toApi, type WrittenRow, type Expected } from "./verbs.ts";

/** Context that a plugin passes to its resource, without the caller. */
export type ContextOf<A extends At<Author>> = Omit<A, "caller" | "request" | "app">;

/** Overrides that exist only once the plugins are set up. */
interface RouteOverrides<T extends Shape> {
  /** In place of the usual verb: it does something before the transaction, say. */
  readonly change?: (at: T["at"], ref: Ref<T["id"]>, given: Patch<T>, expected: Expected<T>) => Promise<WrittenRow<T>>;
  readonly create?: (at: T["at"], given: New<T>) => Promise<Row<T>>;
  /** Before a new one is written: its answer must not read what a transaction that is still open hides. */
  readonly prepare?: (at: T["at"], given: New<T>) => Promise<T["at"]>;
  readonly forms?: FormHints<T>;
}

interface FormHints<T extends Shape> {
  /** The schema of a field with more in it (`field.from`, `field.by`). */
  readonly fields?: { readonly [K in keyof Patch<T>]?: (schema: TSchema) => TSchema };
  readonly needs?: Parameters<typeof field.needs>[1];
}

/** The parts of a request that verbs use. */
type RequestFacts = Partial<Pick<RequestInput, "request" | "app">> & { readonly caller: Caller };

type ResourceRoutes = Readonly<Record<Verb, Route>> & { readonly usedBy?: Route };

/** All five; a plugin that answers one in its own way puts its own in place of it. */
export function resourceRoutes<T extends Shape>(
  of: Resource<T>,
  context: ContextOf<T["at"]>,
  {
    forms = {},
    prepare,
    change: changeBy = (...given) => change(of, ...given),
    create: createBy = (...given) => create(of, ...given),
  }: RouteOverrides<T> = {},
): ResourceRoutes {
  const { name, path, docs = {}, answers, examples, bodies, errors, orders, apps } = of;
  const common = { ...(errors && { errors }), ...(apps && { apps }) } as const;
  const { privilege, or } = of;
  // Only the parameter's name matters to the types.
  const one = `${path}/:id` as "/resource/:id";
  const at = ({ caller, request, app }: RequestFacts) => ({ ...context, caller, request, app }) as unknown as T["at"]; // what `ContextOf` leaves out
  const many = path.slice(path.lastIndexOf("/") + 1);
  const words = name.replaceAll("_", " ");
  const filters = Object.entries(of.filters ?? {}).map(([filter, { doc }]) => [filter, doc] as const);
  const spec = (verb: Verb, summary: string) => {
    const { refusals: _, ...doc } = docs[verb] ?? {};
    // Nobody makes one without the privilege.
    const access = { privilege, ...(or !== undefined && verb !== "create" && { or }) };
    return { summary, ...doc, access, ...common };
  };

  const looking: NonNullable<Route["looks"]> = async (facts, most) => {
    const { privileges, narrowedTo: only } = facts.caller;
    if (!privileges.has(privilege) && (or === undefined || (only.length > 0 && !only.includes(privilege)))) return [];
    const own = at(facts);
    return looks(of, own.sql, facts.caller.account.id, seen(of, own), most);
  };
  return {
    list: withLooks(
      of,
      looking,
      route(
        "GET",
        path,
        {
          ...spec("list", `List ${many.replaceAll("_", " ")}`),
          query: {
            ...Object.fromEntries(filters),
            ...(orders && { order_by: `${orders.join(", ")}; append \`_desc\` to reverse the order` }),
            ...pageQuery,
          },
          answers: { 200: answer.list(answers.listed) },
          responses: { 200: [examples.listed], ...(orders && { 422: { order_by: ["must be one of …"] } }) },
        },
        async ({ query, caller, request, app }) => {
          const own = at({ caller, request, app });
          await of.beforeRead?.(own);
          const narrowed = [...seen(of, own, query), ...narrowedBy(of.filters ?? {}, own.sql, query, caller)];
          const order = orders && orderedBy(orders, own.sql, query);
          const page = await list(of, own.sql, caller.account.id, narrowed, pageOf(query), order);
          if (page.total === 0 && !caller.privileges.has(privilege)) throw needs(privilege);
          if (!of.derivedInLists) return pageReply(page, (row) => told(of, own, row));
          const rows = await Promise.all(page.rows.map((row) => withDerived(of, own, row)));
          return pageReply({ ...page, rows }, (row) => row);
        },
      ),
    ),
    get: route(
      "GET",
      one,
      { ...spec("get", `One ${words}`), answers: { 200: answers.one }, responses: { 200: examples.one, 304: null } },
      async ({ params, caller, request, app }) => {
        const own = at({ caller, request, app });
        await of.beforeRead?.(own);
        return admitted(of, caller, async () =>
          ok(...(await shown(of, own, await found(of, own, refOf(of, params.id))))),
        );
      },
    ),
    create: route(
      "POST",
      path,
      {
        ...spec("create", `Make a ${words}`),
        body: {
          key: name,
          schema: forms.needs
            ? field.needs(withHints(bodies.create, forms), forms.needs)
            : withHints(bodies.create, forms),
        },
        request: examples.request,
        answers: { 201: answers.one },
        responses: { 201: examples.made, ...docs.create?.refusals },
      },
      async ({ body, caller, request, app }) => {
        const given = body as New<T>; // the route has checked it
        const plain = at({ caller, request, app });
        const own = prepare ? await prepare(plain, given) : plain;
        const row = await createBy(own, given);
        return warned(created(...(await shown(of, own, row))), await hintsOf(of, own, row, given));
      },
    ),
    change: route(
      "PATCH",
      one,
      {
        ...spec("change", `Change a ${words}`),
        ifMatch: true,
        body: { key: name, schema: withHints(bodies.change, forms) },
        request: of.change,
        answers: { 200: answers.one },
        responses: { 200: examples.changed, ...docs.change?.refusals },
      },
      async ({ params, body, caller, request, app }) => {
        const own = at({ caller, request, app });
        const expected = (id: string | number) => expectedVersion(request, id);
        const { before, after } = await admitted(of, caller, () => changeBy(own, refOf(of, params.id), body, expected));
        const gone = await lost(of, own, caller, before, after);
        return warned(ok(...(await shown(of, own, after))), [...gone, ...(await hintsOf(of, own, after, body))]);
      },
    ),
    ...(of.named && {
      usedBy: usedByRoute(
        context.names,
        { one: `${path}/:${of.named.param ?? "id"}`, noun: of.named.noun, privilege: of.privilege },
        async (caller, key) => {
          const row = await found(of, at({ caller }), refOf(of, key));
          return { model: of.model, keys: of.named?.keys(row) ?? [] };
        },
      ),
    }),
    delete: route(
      "DELETE",
      one,
      { ...spec("delete", `Delete a ${words}`), ifMatch: true, responses: { 204: null, ...docs.delete?.refusals } },
      async ({ params, caller, request, app }) => {
        const own = at({ caller, request, app });
        const row = await admitted(of, caller, () =>
          erase(of, own, refOf(of, params.id), (id) => expectedVersion(request, id)),
        );
        return warned(noContent(), await lost(of, own, caller, row));
      },
    ),
  };
}

const withLooks = (
  { each }: Pick<Resource<Shape>, "each">,
  looking: NonNullable<Route["looks"]>,
  listing: Route,
): Route => (each.some(({ name }) => name === "icon") ? { ...listing, looks: looking } : listing);

const hintsOf = async <T extends Shape>(of: Resource<T>, at: T["at"], row: Row<T>, given: Patch<T>) =>
  (await of.hints?.(at, row, given)) ?? [];

/** Hints about those who name what is gone. */
async function lost<T extends Shape>(
  of: Resource<T>,
  { names }: T["at"],
  caller: Caller,
  before: Row<T>,
  after?: Row<T>,
) {
  const left = new Set(after && of.named?.keys(after));
  const keys = of.named?.keys(before).filter((key) => !left.has(key)) ?? [];
  return keys.length > 0 ? names.lost(caller, { model: of.model, keys }) : [];
}

async function withDerived<T extends Shape>(of: Resource<T>, at: T["at"], row: Row<T>) {
  return { ...told(of, at, row), ...(await of.derive?.(at, row)) };
}

function told<T extends Shape>(of: Resource<T>, at: T["at"], row: Row<T>): Record<string, unknown> {
  const value = toApi(of, row);
  return of.show ? of.show(at, row, value) : value;
}

/** Without the privilege a missing row is 403, like an existing one. */
async function admitted<T extends Shape, R>(of: Resource<T>, caller: Caller, run: () => Promise<R>): Promise<R> {
  try {
    return await run();
  } catch (error) {
    const isLost = error instanceof HttpError && error.status === 404 && !caller.privileges.has(of.privilege);
    throw isLost ? needs(of.privilege) : error;
  }
}

function needs(privilege: string): HttpError {
  return forbidden(`this needs the privilege \`${privilege}\``);
}

function withHints<T extends Shape>(body: TObject, { fields = {} }: FormHints<T>): TObject {
  const more: Readonly<Partial<Record<string, (schema: TSchema) => TSchema>>> = fields;
  const properties = Object.entries(body.properties).map(([name, schema]) => [name, more[name]?.(schema) ?? schema]);
  return { ...body, properties: Object.fromEntries(properties) };
}

/** A row as an answer with its tag. */
export async function shown<T extends Shape>(
  of: Resource<T>,
  at: T["at"],
  row: Row<T>,
): Promise<Parameters<typeof ok>> {
  const value = await withDerived(of, at, row);
  return [value, { etag: etag(row.id, row.version, of.isVolatile ? value : undefined) }];
}

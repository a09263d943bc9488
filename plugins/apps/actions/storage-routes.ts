import {
  limitKey,
  answer,
  invalid,
  jsonText,
  list,
  noContent,
  notFound,
  pageOf,
  pageQuery,
  route,
  tooMany,
  Type,
  unauthorized,
} from "platform";
import type { RequestInput, Route } from "platform";
import { StoredValue } from "../answers.ts";
import { appFor, ownerOf } from "../serve/served-apps.ts";
import * as storageStore from "./storage-store.ts";
import type { AppsContext } from "../context.ts";

const access = {
  open: "the visitor's own values: the app's token, the session or, in a public app, the cookie tells whose",
  partly: true,
} as const;
const shared = { access, apps: "what the app stores for this visitor", onSites: true } as const;
const example = { key: "theme", value: "dark" };

const busy = { error: "too many requests, try again in 4 s" };

type Input = Omit<RequestInput, "params" | "body"> & { readonly params: { readonly id: string } };

/** `core.storage`: small JSON values for each app and visitor. behaviour B.10. */
export function storageRoutes(ctx: AppsContext): Route[] {
  const whoseIs = async (input: Input) => {
    const app = await appFor(ctx, input, input.params.id);
    if (!input.caller && !app.public) throw unauthorized();
    const { owner, headers } = ownerOf(ctx, input);
    return { headers, whose: { accountId: app.accountId, appId: app.id, owner } };
  };
  const whoWrites = async (input: Input) => {
    if (!input.caller) {
      const { allowed, retryAfterSeconds } = await ctx.limits.stored.take(limitKey(input.ip));
      if (!allowed) throw tooMany(retryAfterSeconds);
    }
    return whoseIs(input);
  };
  return [
    route(
      "GET",
      "/core/apps/:id/storage",
      {
        summary: "The keys that an app stores for its visitor",
        ...shared,
        query: {
          ...pageQuery,
          prefix: "only keys that begin with this",
          values: "true = each as { key, value }",
        },
        answers: { 200: answer.list(Type.Union([Type.String(), StoredValue])) },
        responses: { 200: [example.key] },
      },
      async (input) => {
        const { whose, headers } = await whoseIs(input);
        const { limit: most, offset } = pageOf(input.query);
        const entries = await storageStore.entriesOf(ctx.sql, whose, input.query.get("prefix") ?? "");
        const shown = entries.slice(offset, offset + most);
        const withValues = input.query.get("values") === "true";
        if (!withValues)
          return list(
            shown.map(({ key }) => key),
            entries.length,
            headers,
          );
        const rows = shown.map(({ key, value }) => `{"key":${JSON.stringify(key)},"value":${value}}`);
        return jsonText(200, `[${rows.join(",")}]`, { "x-total-count": `${entries.length}`, ...headers });
      },
    ),
    route(
      "GET",
      "/core/apps/:id/storage/:key",
      {
        summary: "One stored value",
        ...shared,
        description: "Null if nothing is stored: asking at the first visit is not an error.",
        answers: { 200: StoredValue },
        responses: { 200: example, 422: { key: ["may have at most 200 characters"] } },
      },
      async (input) => {
        const { whose, headers } = await whoseIs(input);
        const key = keyOf(input.params.key);
        const value = await storageStore.get(ctx.sql, whose, key);
        return jsonText(200, `{"key":${JSON.stringify(key)},"value":${value ?? "null"}}`, headers);
      },
    ),
    route(
      "PUT",
      "/core/apps/:id/storage/:key",
      {
        summary: "Store a value",
        description: "Any JSON; at most 1 MB and 1000 keys for each visitor of an app.",
        ...shared,
        // More than a visitor's 1 MB, so that a value that is too large gets the 422.
        strangerBytes: 1_500_000,
        body: { schema: Type.Object({ value: Type.Unknown() }) },
        request: { value: example.value },
        answers: { 200: StoredValue },
        responses: {
          200: example,
          422: { value: ["is too large: an app may store at most 1000000 bytes for each visitor"] },
          429: busy,
        },
      },
      async (input) => {
        const { whose, headers } = await whoWrites(input);
        const key = keyOf(input.params.key);
        const value = JSON.stringify(input.body.value);
        const store = async () => {
          if (!(await ctx.transaction((tx) => storageStore.set(tx, whose, { key, value }))))
            throw notFound("there is no such app");
        };
        await (input.caller ? store() : ctx.databases.visitorStores(input.ip, value.length, store));
        return jsonText(200, `{"key":${JSON.stringify(key)},"value":${value}}`, headers);
      },
    ),
    route(
      "DELETE",
      "/core/apps/:id/storage/:key",
      {
        summary: "Delete a value",
        ...shared,
        responses: { 204: null, 422: { key: ["may have at most 200 characters"] }, 429: busy },
      },
      async (input) => {
        const { whose, headers } = await whoWrites(input);
        const key = keyOf(input.params.key);
        await ctx.transaction((tx) => storageStore.remove(tx, whose, key));
        return noContent(headers);
      },
    ),
  ];
}

const maxKey = 200;

function keyOf(given: string): string {
  if (given.length > maxKey) throw invalid({ key: [`may have at most ${maxKey} characters`] });
  if (given === "" || given.includes("\0") || !given.isWellFormed())
    throw invalid({ key: ["has a character that cannot be stored"] });
  return given;
}

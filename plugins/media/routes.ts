import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  invalid,
  list,
  notFound,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  sha256,
  Type,
  uuidOf,
  wildcardPattern,
  type Caller,
  type Route,
  warned,
} from "platform";
import { kept, placed, reached, visibleFolder, folderOf, Patch, patchOf, type MediaPatch } from "./fields.ts";
import { addressOf, linkTo, mediaExample, MediaFile, MediaFolder, MediaLink, MediaUse, toApi } from "./answers.ts";
import { headerBytes } from "./content/dimensions.ts";
import { readUpload } from "./multipart.ts";
import type { MediaRow } from "./store.ts";
import { arrivedFile, withDrafts, type Arrived } from "./writer.ts";
import * as writer from "./writer.ts";
import * as mediaStore from "./store.ts";
import type { MediaContext } from "./context.ts";

const access = { privilege: "media" } as const;
const apps = "the files in its own folder, `apps/<id>`, for a viewer with `media`";

/** `/core/media`: an account's files and their texts. behaviour B.15. */
export function mediaRoutes(ctx: MediaContext): Route[] {
  return [uploadRoute(ctx), ...readRoutes(ctx), ...changeRoutes(ctx), useRoute(ctx)];
}

function uploadRoute(ctx: MediaContext): Route {
  return route(
    "POST",
    "/core/media",
    {
      summary: "Upload a file",
      description:
        "multipart/form-data with one `file`, and `name` (default: the file's), `folder`, `is_public`, `titles` and `alts` (JSON objects of texts by locale). What it is, is found in its content. An SVG loses everything that could act; the header `Warning` says what, and where a picture tells its place (GPS). The same bytes again under the same name answer 200 with the file that is there.",
      access,
      apps,
      input: "stream",
      idempotency: "own",
      takes: [
        Type.Object(
          {
            file: Type.String({ contentMediaType: "application/octet-stream" }),
            name: Type.Optional(Type.String()),
            folder: Type.Optional(Type.String()),
            is_public: Type.Optional(Type.String()),
            titles: Type.Optional(Type.String()),
            alts: Type.Optional(Type.String()),
          },
          { contentMediaType: "multipart/form-data" },
        ),
      ],
      request: { file: "Hello", folder: "team", is_public: "true", alts: JSON.stringify(mediaExample.alts) },
      answers: { 200: MediaFile, 201: MediaFile },
      responses: {
        200: mediaExample,
        201: mediaExample,
        413: { error: "the account's files may have 20000000000 bytes in all" },
        415: { error: "send multipart/form-data with a field `file`" },
        422: { name: ["has already been taken in this folder"] },
      },
    },
    async ({ app, caller, request, once }) => {
      await writer.mustFit(ctx, caller.account.id, Number(request.headers.get("content-length") ?? 0));
      return withDrafts(ctx, async (first, begin) => {
        const limits = { maxBytes: ctx.maxBytes, headBytes: headerBytes, stopping: ctx.stopping };
        const { fileName, fields, head } = await readUpload(request, first, limits);
        const given = placed(app, { name: fileName, ...patchOf(fields) });
        const arrived = await arrivedFile(first, head, given.name, begin);
        const run = () => stored(ctx, caller, arrived, given);
        // A retry's multipart body has other separators: what counts is what is in it.
        return once(`token:${caller.tokenId}`, run, async () => sha256(JSON.stringify([given, arrived.hash])));
      });
    },
  );
}

async function stored(ctx: MediaContext, caller: Caller, arrived: Arrived, given: MediaPatch) {
  const { row, isNew } = await writer.create(ctx, caller, arrived, given);
  return warned(isNew ? created(...shown(row)) : ok(...shown(row)), arrived.hints);
}

function readRoutes(ctx: MediaContext): Route[] {
  return [
    route(
      "GET",
      "/core/media",
      {
        summary: "List media files",
        description: "The newest first.",
        access,
        apps,
        query: {
          q: "searches the name; `*` and `%` are wildcards",
          folder: "exactly this folder; empty is the top",
          under: "this folder and those below",
          mime: "exact, or `image/` for all of a kind",
          is_public: Type.Boolean({ description: "only public ones, or only others" }),
          ...pageQuery,
        },
        answers: { 200: answer.list(MediaFile) },
        responses: { 200: [mediaExample] },
      },
      async ({ app, caller, query }) => {
        const q = query.get("q");
        const filter = {
          q: q ? wildcardPattern(q) : undefined,
          folder: query.get("folder")?.normalize("NFC") ?? undefined,
          under: visibleFolder(app, query.get("under")?.normalize("NFC") || undefined),
          mime: query.get("mime") || undefined,
          isPublic: flagOf(query, "is_public"),
        };
        return pageReply(await mediaStore.list(ctx.sql, caller.account.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/core/media/:id",
      {
        summary: "One media file",
        access,
        apps,
        answers: { 200: MediaFile },
        responses: { 200: mediaExample, 304: null },
      },
      async ({ app, caller, params }) =>
        ok(...shown(reached(app, await mediaStore.byId(ctx.sql, caller.account.id, uuidOf(params.id))))),
    ),
    route(
      "GET",
      "/core/media_folders",
      {
        summary: "List the folders that have files",
        access,
        query: pageQuery,
        answers: { 200: answer.list(MediaFolder) },
        responses: { 200: [{ path: "team", files: 1, bytes: mediaExample.size }] },
      },
      async ({ caller, query }) => {
        return pageReply(await mediaStore.listFolders(ctx.sql, caller.account.id, pageOf(query)), (row) => row);
      },
    ),
  ];
}

function changeRoutes(ctx: MediaContext): Route[] {
  return [
    route(
      "PATCH",
      "/core/media/:id",
      {
        summary: "Rename or move a file, or change its texts",
        description:
          "`titles` and `alts` are replaced as a whole. The content never changes: upload another file for that.",
        access,
        apps,
        ifMatch: true,
        body: { key: "media", schema: Patch },
        request: { alts: { en: "Our team at work" } },
        answers: { 200: MediaFile },
        responses: { 200: { ...mediaExample, alts: { en: "Our team at work" } } },
      },
      async ({ app, request, caller, params, body }) => {
        const id = uuidOf(params.id);
        return ok(
          ...shown(
            await writer.update(ctx, caller, id, kept(app, body), { app, expected: expectedVersion(request, id) }),
          ),
        );
      },
    ),
    route(
      "DELETE",
      "/core/media/:id",
      {
        summary: "Delete a media file",
        description: "Its address answers 404 at once. The content is removed a day later, if no other file has it.",
        access,
        apps,
        ifMatch: true,
        responses: { 204: null },
      },
      async ({ app, request, caller, params }) => {
        const id = uuidOf(params.id);
        await writer.remove(ctx, caller, id, { app, expected: expectedVersion(request, id) });
        return noContent();
      },
    ),
    route(
      "POST",
      "/core/media/:id/link",
      {
        summary: "Make a link to a file that is not public",
        description: "Whoever has it can read the file until it expires: after an hour, or `expires_in` seconds.",
        access,
        apps,
        body: {
          key: "link",
          schema: Type.Object({ expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 })) }),
        },
        request: { expires_in: 3600 },
        answers: { 200: MediaLink },
        responses: {
          200: { url: `${mediaExample.url}?expires=1785492000&signature=…`, expires_at: "2026-07-31T10:00:00.000Z" },
        },
      },
      async ({ app, caller, params, body }) => {
        const row = reached(app, await mediaStore.byId(ctx.sql, caller.account.id, uuidOf(params.id)));
        const { query, expiresAt } = linkTo(ctx.secrets, row, body.expires_in ?? 3600);
        return ok({ url: `${addressOf(row)}?${query}`, expires_at: expiresAt });
      },
    ),
    route(
      "POST",
      "/core/media_folders/rename",
      {
        summary: "Rename or move a folder with everything in it",
        access,
        body: {
          key: "media_folder",
          schema: Type.Object({
            from: field.from(Type.String({ minLength: 1, maxLength: 1000 }), {
              path: "/core/media_folders.json",
              value: "path",
            }),
            to: Type.String({ maxLength: 1000 }),
          }),
        },
        request: { from: "team", to: "about/team" },
        answers: { 200: MediaFolder },
        responses: {
          200: { path: "about/team", files: 1, bytes: mediaExample.size },
          422: { to: ["is the folder itself, or in it"] },
        },
      },
      async ({ caller, body }) => {
        const [from, to] = [folderOf(body.from, "from"), folderOf(body.to, "to")];
        if (to === from || to.startsWith(`${from}/`)) throw invalid({ to: ["is the folder itself, or in it"] });
        return ok(await writer.renameFolder(ctx, caller, from, to));
      },
    ),
  ];
}

function shown(row: MediaRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

/** The most that is answered of the records of one plugin: enough to know that a file is in use, and where. */
const mostUses = 200;

/** `/core/media/:id/uses`: before a file is deleted, moved or made private. behaviour B.15.14. */
function useRoute(ctx: MediaContext): Route {
  return route(
    "GET",
    "/core/media/:id/uses",
    {
      summary: "Where a file is used",
      description: `Sites, pages, paragraphs, layouts and articles (privilege \`cms\`) whose texts or fields have its address, or its folder and name in quotes. A name that a template puts together is not found. At most ${mostUses}.`,
      access: { privilege: "media" },
      answers: { 200: answer.list(MediaUse) },
      responses: { 200: [{ model: "Cms::Page", id: 7, code: "about", name: "About us", site_code: "acme" }] },
    },
    async ({ caller, params }) => {
      const row = await mediaStore.byId(ctx.sql, caller.account.id, uuidOf(params.id));
      if (!row) throw notFound();
      const path = row.folder === "" ? row.name : `${row.folder}/${row.name}`;
      const found = await ctx.hooks.usesOf(caller, { id: row.id, path }, mostUses);
      const all = found.map(({ siteCode, ...use }) => ({ ...use, site_code: siteCode }));
      return list(all, all.length);
    },
  );
}

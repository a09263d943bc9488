import {
  answer,
  created,
  field,
  found,
  invalid,
  list,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  resourceRoutes,
  route,
  sha256,
  shown,
  Type,
  warned,
} from "platform";
import type { Caller, Route } from "platform";
import { headerBytes } from "./content/dimensions.ts";
import type { MediaContext } from "./context.ts";
import { addressOf, fields, folderOf, linkTo, placed, type MediaPatch } from "./fields.ts";
import { apps, exampleUrl, Media, patchOf } from "./media.ts";
import { readUpload } from "./multipart.ts";
import * as mediaStore from "./store.ts";
import { arrivedFile, withDrafts, type StoredContent } from "./writer.ts";
import * as writer from "./writer.ts";

const access = { privilege: Media.privilege } as const;

const MediaFolder = answer.object("MediaFolder", {
  path: Type.String(),
  files: Type.Integer(),
  bytes: Type.Integer(),
});

const MediaUse = answer.object("MediaUse", {
  model: Type.String(),
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  site_code: field.nullable(Type.String()),
});

const MediaLink = answer.object("MediaLink", { url: Type.String(), expires_at: answer.time() });

/** `/core/media`: an account's files and their texts. behaviour B.15. */
export function mediaRoutes(ctx: MediaContext): Route[] {
  const { create: _, ...usual } = resourceRoutes(Media, ctx);
  return [uploadRoute(ctx), ...Object.values(usual), linkRoute(ctx), ...folderRoutes(ctx), useRoute(ctx)];
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
      request: { file: "Hello", folder: "team", is_public: "true", alts: JSON.stringify(fields.alts.example) },
      answers: { 200: Media.answers.one, 201: Media.answers.one },
      responses: {
        200: Media.examples.one,
        201: Media.examples.one,
        413: { error: "the account's files may have 20000000000 bytes in all" },
        415: { error: "send multipart/form-data with a field `file`" },
        422: { name: ["has already been taken in this folder"] },
      },
    },
    async ({ app, caller, request, once }) => {
      await writer.mustFit(ctx, caller.account.id, Number(request.headers.get("content-length") ?? 0));
      return withDrafts(ctx, async (first, begin) => {
        const limits = { maxBytes: ctx.maxBytes, headBytes: headerBytes, stopping: ctx.stopping };
        const { fileName, fields: form, head } = await readUpload(request, first, limits);
        const said = patchOf(form);
        const given = placed(app, { ...said, name: said.name ?? fileName });
        const arrived = await arrivedFile(first, head, given.name, begin);
        const run = () => stored(ctx, caller, arrived, given);
        // A retry's multipart body has other separators: what counts is what is in it.
        return once(`token:${caller.tokenId}`, run, async () => sha256(JSON.stringify([given, arrived.hash])));
      });
    },
  );
}

async function stored(ctx: MediaContext, caller: Caller, arrived: StoredContent, given: MediaPatch) {
  const { row, isNew } = await writer.create(ctx, caller, arrived, given);
  const answered = await shown(Media, { ...ctx, caller }, row);
  return warned(isNew ? created(...answered) : ok(...answered), arrived.hints);
}

function linkRoute(ctx: MediaContext): Route {
  return route(
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
        200: { url: `${exampleUrl}?expires=1785492000&signature=…`, expires_at: "2026-07-31T10:00:00.000Z" },
      },
    },
    async ({ app, caller, params, body }) => {
      const row = await found(Media, { ...ctx, caller, app }, refOf(Media, params.id));
      const { query, expiresAt } = linkTo(ctx.secrets, row, body.expires_in ?? 3600);
      return ok({ url: `${addressOf(row)}?${query}`, expires_at: expiresAt });
    },
  );
}

function folderRoutes(ctx: MediaContext): Route[] {
  return [
    route(
      "GET",
      "/core/media_folders",
      {
        summary: "List the folders that have files",
        access,
        query: pageQuery,
        answers: { 200: answer.list(MediaFolder) },
        responses: { 200: [{ path: "team", files: 1, bytes: fields.size.example }] },
      },
      async ({ caller, query }) => {
        return pageReply(await mediaStore.listFolders(ctx.sql, caller.account.id, pageOf(query)), (row) => row);
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
          200: { path: "about/team", files: 1, bytes: fields.size.example },
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
      const row = await found(Media, { ...ctx, caller }, refOf(Media, params.id));
      const path = row.folder === "" ? row.name : `${row.folder}/${row.name}`;
      const uses = await ctx.hooks.usesOf(caller, { id: row.id, path }, mostUses);
      const all = uses.map(({ siteCode, ...use }) => ({ ...use, site_code: siteCode }));
      return list(all, all.length);
    },
  );
}

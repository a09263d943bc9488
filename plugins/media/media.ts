/** A media file: what it is to others, and how it is changed and deleted. An upload makes it (writer.ts). behaviour B.15. */
import { cacheKey, checkerOf, filter, invalid, resource, Type } from "platform";
import type { AppGrant, At, Author, Change, Changed, DraftOf } from "platform";
import type { MediaContext } from "./context.ts";
import { addressOf, fields, fieldsOf, kept, visibleFolder, type MediaPatch } from "./fields.ts";
import * as mediaStore from "./store.ts";

export interface MediaAt extends At<Author>, MediaContext {
  /** Of a request of an app's page. */
  readonly app?: AppGrant | null;
}

const id = "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f";
export const exampleUrl = `/media/${id}/team.jpg`;
/** Access of an app's page. */
export const apps = "the files in its own folder, `apps/<id>`, for a viewer with `media`";

export const Media = resource("media", {
  table: "media",
  type: "MediaFile",
  path: "/core/media",
  id: "uuid",
  privilege: "media",
  model: "Core::MediaFile",
  events: true,
  apps,
  order: "id desc",
  fields,
  derived: { url: { label: ["Address", "Adres", "Adresse"], schema: Type.String() } },
  derivedInLists: true,
  derive: (_, row) => ({ url: addressOf(row) }),
  filters: {
    q: filter.searching(["name"], "searches the name; `*` and `%` are wildcards"),
    folder: { doc: "exactly this folder; empty is the top", where: mediaStore.inFolder },
    // `visible` reads it: an app's page sees its own folder, whatever it asks for.
    under: { doc: "this folder and those below", where: () => undefined },
    mime: { doc: "exact, or `image/` for all of a kind", where: mediaStore.ofKind },
    is_public: filter.flagged(Type.Boolean({ description: "only public ones, or only others" })),
  },
  visible({ app = null }: MediaAt, sql, query) {
    return mediaStore.below(sql, visibleFolder(app, query?.get("under")?.normalize("NFC") || undefined));
  },
  check,
  async changed(_, { before, after }, tx) {
    if (before && !after) await mediaStore.leaveContent(tx, before.hash);
  },
  async committed({ rows, hooks, caller: { account } }, { before, after }: Changed<typeof fields, "uuid">) {
    const stale = [before, after].flatMap((row) => (row ? [cacheKey(account.id, row.id)] : []));
    await Promise.all([...stale.map((key) => rows.invalidate(key)), hooks.changed(account.id)]);
  },
  example: { id, url: exampleUrl },
  request: [],
  change: { alts: { en: "Our team at work" } },
  docs: {
    list: { summary: "List media files", description: "The newest first." },
    get: { summary: "One media file" },
    change: {
      summary: "Rename or move a file, or change its texts",
      description:
        "`titles` and `alts` are replaced as a whole. The content never changes: upload another file for that.",
    },
    delete: {
      summary: "Delete a media file",
      description: "Its address answers 404 at once. The content is removed a day later, if no other file has it.",
    },
  },
});

async function check(
  { app = null }: MediaAt,
  { tx, given, before }: Change<typeof fields, "uuid">,
): Promise<DraftOf<typeof fields>> {
  if (!before) throw new Error("files are uploaded");
  const after = fieldsOf(before, kept(app, given));
  const twin = await mediaStore.byPlace(tx, before.accountId, after.folder, after.name);
  if (twin && twin.id !== before.id) throw invalid({ name: ["has already been taken in this folder"] });
  return { ...before, ...after };
}

const checked = checkerOf(Media.bodies.change);

/** Throws the 422 for a field of a form that is unknown or not what it should be. An empty one was not filled in. */
export function patchOf(form: Readonly<Record<string, string>>): MediaPatch {
  const given: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(form)) {
    if (!Object.hasOwn(Media.bodies.change.properties, name)) throw invalid({ [name]: ["is unknown"] });
    if (text === "") continue;
    given[name] = name === "is_public" ? flag(text) : name === "name" || name === "folder" ? text : json(name, text);
  }
  return checked(given);
}

function flag(text: string): boolean {
  if (text === "true" || text === "1" || text === "on") return true;
  if (text === "false" || text === "0") return false;
  throw invalid({ is_public: ["must be true or false"] });
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ [name]: ["must be a JSON object of texts by locale"] });
  }
}

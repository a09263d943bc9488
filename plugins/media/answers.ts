/** What the routes of media answer with. */
import { answer, field, Type, type Static } from "platform";
import type { MediaRow } from "./store.ts";

const texts = () => Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Type.String(), Type.String()));

export const MediaFile = answer.object("MediaFile", {
  id: answer.uuid(),
  name: Type.String(),
  folder: Type.String(),
  size: Type.Integer(),
  mime: Type.String(),
  width: field.nullable(Type.Integer()),
  height: field.nullable(Type.Integer()),
  sha256: Type.String(),
  is_public: Type.Boolean(),
  url: Type.String(),
  titles: texts(),
  alts: texts(),
  created_at: answer.time(),
  updated_at: answer.time(),
});

export const MediaFolder = answer.object("MediaFolder", {
  path: Type.String(),
  files: Type.Integer(),
  bytes: Type.Integer(),
});

export const MediaUse = answer.object("MediaUse", {
  model: Type.String(),
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  site_code: field.nullable(Type.String()),
});

export const MediaLink = answer.object("MediaLink", { url: Type.String(), expires_at: answer.time() });

export function toApi(row: MediaRow): Static<typeof MediaFile> {
  return {
    id: row.id,
    name: row.name,
    folder: row.folder,
    size: row.size,
    mime: row.mime,
    width: row.width,
    height: row.height,
    sha256: row.hash,
    is_public: row.isPublic,
    url: addressOf(row),
    titles: row.titles,
    alts: row.alts,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Below the address of the account, and of each of its sites. */
export function addressOf({ id, name }: Pick<MediaRow, "id" | "name">): string {
  return `/media/${id}/${encodeURIComponent(name)}`;
}

/** Takes back what an entry of the log says was done. */
import { get, mapsIn, request, textOf } from "studio";
import { entryBefore } from "./sentence.ts";

/** False where nothing of it is kept. */
export async function takeBack(row: Readonly<Record<string, unknown>>): Promise<boolean> {
  const id = encodeURIComponent(textOf(row["record_id"]));
  const table = `/core/dbs/${encodeURIComponent(textOf(row["name"]))}`;
  if (row["action"] === "delete") {
    const trash = row["model"] === "Core::Db" ? "/core/db_trash" : `${table}/trash`;
    await request("POST", `${trash}/${id}/restore.json`);
    return true;
  }
  const { json } = await get(`${table}/records/${id}/history.json?limit=200`);
  const before = entryBefore(mapsIn(json), row);
  if (before === undefined) return false;
  await request("POST", `${table}/records/${id}/history/${before}/restore.json`);
  return true;
}

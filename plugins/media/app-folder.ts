/** What an app's page may reach with its token: the files in the app's own folder, `apps/<id>`, and below it. */
import { invalid, notFound, type AppGrant } from "platform";
import { folderOf } from "./content/names.ts";
import type { MediaPatch } from "./fields.ts";

const folderOfApp = ({ appId }: AppGrant) => `apps/${appId}`;

const holds = (outer: string, folder: string) => folder === outer || folder.startsWith(`${outer}/`);

/** The folder whose files a list may show: the one asked for if it is the app's, or else the app's. */
export function visibleFolder(app: AppGrant | null, under: string | undefined): string | undefined {
  if (!app) return under;
  const own = folderOfApp(app);
  return under !== undefined && holds(own, under) ? under : own;
}

/** The row, if there is one and this app's page may know of it; 404 otherwise. */
export function reached<Row extends { readonly folder: string }>(app: AppGrant | null, row: Row | undefined): Row {
  if (!row || (app && !holds(folderOfApp(app), row.folder))) throw notFound();
  return row;
}

/** What an app's page says of a new file: it goes to the app's folder. */
export const placed = <Given extends MediaPatch>(app: AppGrant | null, given: Given): Given =>
  app ? kept(app, { ...given, folder: given.folder ?? folderOfApp(app) }) : given;

/** What an app's page says of a file that is there: it stays in the app's folder. */
export function kept<Given extends MediaPatch>(app: AppGrant | null, given: Given): Given {
  if (!app || given.folder === undefined) return given;
  const own = folderOfApp(app);
  const folder = folderOf(given.folder);
  if (!holds(own, folder)) throw invalid({ folder: [`must be ${own}, or in it`] });
  return { ...given, folder };
}

import { session, type Resource } from "studio";

/** Apps, as the API describes them. */
export function appsResource(): Resource {
  const found = session.resources.find(({ path }) => path === "/core/apps");
  if (!found) throw new Error("the API describes no /core/apps");
  return found;
}

import { session, type Resource } from "studio";

/** Flows, as the API describes them. */
export function flowsResource(): Resource {
  const found = session.resources.find(({ path }) => path === "/connect/flows");
  if (!found) throw new Error("the API describes no /connect/flows");
  return found;
}

import { field, ok, route, Type, type Route } from "platform";
import { AppPreview } from "../answers.ts";
import type { AppsContext } from "../context.ts";
import { makePreview } from "./preview.ts";
import { access, AppChanges, requestExample } from "./routes.ts";

const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const id = Type.Optional(field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" })));
const PreviewInput = Type.Composite([AppChanges, Type.Object({ id })]);

export function previewRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "POST",
      "/core/apps/preview",
      {
        summary: "Compile an app without saving it",
        description:
          "The page is at `url` for ten minutes, for you alone. With the `id` of a saved app it is a draft of that app: " +
          "missing fields come from the saved app, and its database and actions can be used. `source_lines` has for each line " +
          "of the compiled code the line of the source that it comes from, and 0 where none does; null where the source " +
          "runs as it is.",
        access,
        body: { key: "app", schema: PreviewInput },
        request: requestExample,
        answers: { 200: AppPreview },
        responses: {
          200: { url: "/a/preview/3q2-7w…", expires_at: "2026-01-31T10:10:00.000Z", source_lines: [0, 2, 2, 4] },
          422: { source_code: ["3:14 Unexpected token"] },
        },
      },
      async ({ caller, body }) => {
        const { token, expiresAt, lines = null } = await makePreview(ctx, caller, body);
        return ok({ url: `/a/preview/${token}`, expires_at: expiresAt, source_lines: lines });
      },
    ),
  ];
}

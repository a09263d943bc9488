import { backupEnded, definePlugin, onEvent, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { mail } from "../mail/api.ts";
import { failedTemplate } from "./tell.ts";
import { Backup } from "./answers.ts";
import { backupRoutes } from "./routes.ts";
import { model, tell } from "./tell.ts";

/** Shows the scheduled backups, and tells of them; the runtime makes them. behaviour B.16. */
export default definePlugin({
  name: "backups",
  needs: { accounts, mail },
  config: {
    to: setting.checked(
      "BACKUP_MAIL",
      "",
      "Whom to tell when a scheduled backup fails; empty = the first account's administrators",
      parseRecipient,
    ),
  },
  models: [{ name: model, privilege: "backups", kinds: ["made", "failed"], sample: Backup.example }],
  privileges: [{ name: "backups", doc: "see the scheduled backups", roles: ["admin"] }],

  setup(ctx) {
    ctx.services.mail.registerTemplate(failedTemplate);
    return {
      routes: backupRoutes(ctx),
      handlers: [onEvent(backupEnded, "backups.tell", (end) => tell(ctx, end))],
    };
  },
});

function parseRecipient(value: string): string {
  if (value === "" || /^[^\s@,]{1,64}@[^\s@,]{1,255}$/.test(value)) return value;
  throw new Error("must be one mail address");
}

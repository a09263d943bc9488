/**
 * What the plugins of PLUGINS_DIR import: "platform", and what each built-in plugin shows to others, e.g.
 * `import { accounts } from "platform/accounts"`. The built-in ones import each other's api.ts.
 */
import * as platform from "platform";
import * as accounts from "./accounts/api.ts";
import * as activity from "./activity/api.ts";
import * as apps from "./apps/api.ts";
import * as cms from "./cms-multilang/api.ts";
import * as connectors from "./connectors/api.ts";
import * as factors from "./accounts/factors/api.ts";
import * as flows from "./flows/api.ts";
import * as jsondb from "./jsondb/api.ts";
import * as llm from "./llm/api.ts";
import * as mail from "./mail/api.ts";
import * as mcp from "./mcp/api.ts";
import * as media from "./media/api.ts";
import * as passwords from "./accounts/passwords/api.ts";
import * as prompts from "./prompts/api.ts";
import * as sessions from "./accounts/sessions/api.ts";
import * as smtp from "./smtp/api.ts";
import * as tokens from "./tokens/api.ts";

export const modules: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  platform,
  "platform/accounts": accounts,
  "platform/activity": activity,
  "platform/apps": apps,
  "platform/cms-multilang": cms,
  "platform/connectors": connectors,
  "platform/factors": factors,
  "platform/flows": flows,
  "platform/jsondb": jsondb,
  "platform/llm": llm,
  "platform/mail": mail,
  "platform/mcp": mcp,
  "platform/media": media,
  "platform/passwords": passwords,
  "platform/prompts": prompts,
  "platform/sessions": sessions,
  "platform/smtp": smtp,
  "platform/tokens": tokens,
};

import type { Plugin } from "platform";
import demo from "../sites/demo/plugin.ts";
import studio from "../sites/studio/plugin.ts";
import accounts from "./accounts/plugin.ts";
import activity from "./activity/plugin.ts";
import apps from "./apps/plugin.ts";
import backups from "./backups/plugin.ts";
import certificates from "./certificates/plugin.ts";
import cmsMultilang from "./cms-multilang/plugin.ts";
import connectors from "./connectors/plugin.ts";
import crons from "./crons/plugin.ts";
import doctor from "./doctor/plugin.ts";
import factors from "./accounts/factors/plugin.ts";
import flows from "./flows/plugin.ts";
import hooks from "./hooks/plugin.ts";
import inbox from "./inbox/plugin.ts";
import jsondb from "./jsondb/plugin.ts";
import llm from "./llm/plugin.ts";
import mail from "./mail/plugin.ts";
import mcp from "./mcp/plugin.ts";
import media from "./media/plugin.ts";
import oauth from "./oauth/plugin.ts";
import oidc from "./accounts/oidc/plugin.ts";
import passwords from "./accounts/passwords/plugin.ts";
import postgres from "./postgres/plugin.ts";
import prompts from "./prompts/plugin.ts";
import security from "./accounts/security/plugin.ts";
import sessions from "./accounts/sessions/plugin.ts";
import smtp from "./smtp/plugin.ts";
import tokens from "./tokens/plugin.ts";
import webhooks from "./webhooks/plugin.ts";

/** The built-in plugins. Literal imports, as the compiler of the binary needs them. */
export const plugins: readonly Plugin[] = [
  accounts,
  activity,
  tokens,
  factors,
  sessions,
  security,
  prompts,
  jsondb,
  connectors,
  smtp,
  mail,
  backups,
  passwords,
  oidc,
  media,
  postgres,
  llm,
  flows,
  crons,
  webhooks,
  hooks,
  inbox,
  apps,
  cmsMultilang,
  certificates,
  mcp,
  oauth,
  doctor,
  demo,
  studio,
];

/** Schemas of the answers of the tokens' routes. */
import { answer, field, Type } from "platform";

const shown = {
  id: Type.Integer(),
  name: field.nullable(Type.String()),
  code: field.nullable(Type.String()),
  kind: field.nullable(field.oneOf(["web_token"])),
  active: Type.Boolean(),
  expires_at: field.nullable(answer.time()),
  integration_app_code: field.nullable(Type.String()),
  for_account: Type.Boolean(),
  privileges: answer.list(Type.String()),
  token_info: Type.String(),
  user_id: Type.Integer(),
  last_used_at: field.nullable(answer.time()),
  created_at: answer.time(),
  updated_at: answer.time(),
};

export const ApiToken = answer.object("ApiToken", shown);
/** The one answer that shows the token itself. */
export const NewApiToken = answer.object("NewApiToken", { ...shown, token: Type.String() });

/** What protects a token. */
export const TokenCareAnswer = answer.object("TokenCare", {
  id: Type.Integer(),
  rate_limit: field.nullable(Type.Integer()),
  networks: answer.list(Type.String()),
  read_only: Type.Boolean(),
  mcp_delete: Type.Boolean(),
  last_address: field.nullable(Type.String()),
  last_used_at: field.nullable(answer.time()),
});

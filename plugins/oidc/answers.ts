/** The answers of the routes of providers. */
import { answer, field, roles, Type, type Role } from "platform";

const text = field.nullable(Type.String());

export const SignInProvider = answer.object("SignInProvider", {
  id: answer.uuid(),
  name: Type.String(),
  code: Type.String(),
  label: text,
  active: Type.Boolean(),
  issuer: Type.String(),
  client_id: Type.String(),
  has_client_secret: Type.Boolean(),
  scopes: Type.String(),
  redirect_uri: Type.String({ description: "to be registered at the provider" }),
  post_logout_redirect_uri: Type.String({ description: "to be registered at the provider, for `sign_out_there`" }),
  backchannel_logout_uri: Type.String({
    description: "may be registered at the provider: it ends the sessions here of who signs out there",
  }),
  create_people: Type.Boolean(),
  email_domains: answer.list(Type.String()),
  link_by_email: Type.Boolean(),
  verified_claim: Type.String(),
  trust_second_factor: Type.Boolean(),
  sign_out_there: Type.Boolean(),
  default_role: field.nullable(field.oneOf(roles)),
  role_claim: text,
  roles: Type.Unsafe<Readonly<Record<string, Role>>>(Type.Record(Type.String(), field.oneOf(roles))),
  team_claim: text,
  teams: Type.Unsafe<Readonly<Record<string, number>>>(Type.Record(Type.String(), Type.Integer())),
  created_at: answer.time(),
  updated_at: answer.time(),
});

export const SignInIdentity = answer.object("SignInIdentity", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  login: Type.String(),
  name: Type.String(),
  issuer: Type.String(),
  subject: Type.String(),
  email: Type.String(),
  last_used_at: answer.time(),
  created_at: answer.time(),
});

export const ProviderTest = answer.object("SignInProviderTest", {
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  userinfo_endpoint: text,
  end_session_endpoint: text,
  backchannel_logout_supported: Type.Boolean(),
  keys: Type.Integer({ description: "how many keys the provider signs with" }),
  warnings: answer.list(Type.String()),
});

/** The answers of the routes of providers beside the usual five. */
import { answer, field, Type } from "platform";

const text = field.nullable(Type.String());

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

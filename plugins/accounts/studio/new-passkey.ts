import { request } from "studio";
import { codesIn } from "./factors.ts";

/** Asks the browser for a new passkey and registers it. Rejects if its person says no. */
export async function addPasskey(name: string): Promise<string[]> {
  const { json } = await request("POST", "/account/me/passkeys/options.json");
  // The server's answer is what the browser takes, by the standard.
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json as PublicKeyCredentialCreationOptionsJSON);
  const made = await navigator.credentials.create({ publicKey });
  if (!(made instanceof PublicKeyCredential)) throw new Error("the browser has made no passkey");
  const { id, response } = made.toJSON();
  const answer = await request("POST", "/account/me/passkeys.json", { body: { passkey: { name, id, response } } });
  return codesIn(answer.json);
}

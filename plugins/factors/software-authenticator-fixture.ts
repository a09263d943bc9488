/** A passkey in software, for tests: it answers as a browser does, and wrongly if told to. */
const encoding = { alphabet: "base64url", omitPadding: true } as const;
export const base64url = (bytes: Uint8Array) => bytes.toBase64(encoding);
const utf8 = (text: string) => new TextEncoder().encode(text);
/** A short text in CBOR. */
const text = (short: string) => [0x60 + short.length, ...utf8(short)];
const sha256 = async (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

interface Told {
  readonly origin: string;
  readonly rpId: string;
  readonly challenge: string;
  readonly type?: string;
  readonly counter?: number;
  /** Whether the person was verified. */
  readonly verified?: boolean;
}

export async function softwareAuthenticator(userHandle: string) {
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const jwk = await crypto.subtle.exportKey("jwk", keys.publicKey);
  const credential = crypto.getRandomValues(new Uint8Array(16));
  const id = base64url(credential);

  const clientData = ({ origin, challenge, type }: Told, standard: string) =>
    utf8(JSON.stringify({ type: type ?? standard, challenge, origin, crossOrigin: false }));
  const authData = async ({ rpId, counter = 0, verified = true }: Told, attested: readonly number[] = []) =>
    Uint8Array.from([
      ...(await sha256(utf8(rpId))),
      (verified ? 5 : 1) | (attested.length > 0 ? 64 : 0),
      ...[24, 16, 8, 0].map((shift) => (counter >>> shift) & 255),
      ...attested,
    ]);

  return {
    id,

    async register(told: Told) {
      const [x, y] = [jwk.x, jwk.y].map((part) => Uint8Array.fromBase64(part ?? "", { alphabet: "base64url" }));
      const coordinates = [x, y].map((bytes, at) => [0x21 + at, 0x58, 32, ...(bytes ?? [])]);
      const key = [0xa5, 1, 2, 3, 0x26, 0x20, 1, ...coordinates.flat()];
      const data = await authData(told, [...new Uint8Array(16), 0, credential.length, ...credential, ...key]);
      const object = [
        0xa3,
        ...text("fmt"),
        ...text("none"),
        ...text("attStmt"),
        0xa0,
        ...text("authData"),
        0x58,
        data.length,
        ...data,
      ];
      const clientDataJSON = base64url(clientData(told, "webauthn.create"));
      return { id, response: { clientDataJSON, attestationObject: base64url(Uint8Array.from(object)) } };
    },

    async sign(told: Told) {
      const [client, data] = [clientData(told, "webauthn.get"), await authData(told)];
      const signed = Uint8Array.from([...data, ...(await sha256(client))]);
      const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, signed);
      const signature = base64url(derOf(new Uint8Array(raw)));
      const response = { clientDataJSON: base64url(client), authenticatorData: base64url(data), signature, userHandle };
      return { id, response };
    },
  };
}

/** WebCrypto writes the two numbers of a signature side by side, authenticators in ASN.1. */
function derOf(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const digits = bytes.subarray(start);
    const sign = (digits[0] ?? 0) > 127 ? [0] : [];
    return [2, sign.length + digits.length, ...sign, ...digits];
  };
  const body = [...integer(raw.slice(0, 32)), ...integer(raw.slice(32))];
  return Uint8Array.from([0x30, body.length, ...body]);
}

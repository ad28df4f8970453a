/* Passkeys of this browser. It reads and writes the JSON of WebAuthn by itself; one that doesn't is not asked. */

/** Only pages over TLS, or of this machine, may use them. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential !== 'undefined' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;

const jsonOf = (credential: Credential | null): unknown => {
  if (!credential) throw new Error('The browser gave no passkey.');
  return (credential as PublicKeyCredential).toJSON();
};

/** @throws Error if the person or the browser refuses */
export async function makePasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  return jsonOf(await navigator.credentials.create({ publicKey }).catch(refused));
}

/** @throws Error if the person or the browser refuses */
export async function askPasskey(options: unknown): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  return jsonOf(await navigator.credentials.get({ publicKey }).catch(refused));
}

/** Browsers don't say why, so that pages learn nothing of the person. */
function refused(error: unknown): never {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') throw new Error('This passkey is there already.');
  if (name === 'SecurityError') throw new Error('Passkeys work only at the public address of this server.');
  throw new Error('The browser used no passkey. Try again.');
}

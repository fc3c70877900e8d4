import { z } from 'zod';
import { base64urlCharsMax } from './limits.ts';

/** JSON of WebAuthn (W3C Web Authentication Level 3, §5.1 and §5.10). */

const base64url = z.string().max(base64urlCharsMax);
const credential = { id: base64url, rawId: base64url, type: z.literal('public-key') };

/** The answer to `navigator.credentials.get`. */
export const passkeyAssertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});
export type PasskeyAssertion = z.infer<typeof passkeyAssertion>;

/** The answer to `navigator.credentials.create`. */
export const passkeyAttestation = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
});
export type PasskeyAttestation = z.infer<typeof passkeyAttestation>;

/** The options of `navigator.credentials.get`. Any passkey of this site may answer. */
export const passkeyRequest = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout: z.number(),
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeyRequest' });
export type PasskeyRequest = z.infer<typeof passkeyRequest>;

/** The options of `navigator.credentials.create`. */
export const passkeyCreation = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal('public-key') })),
    timeout: z.number(),
    /** An authenticator that has one of these passkeys creates no other. */
    excludeCredentials: z.array(z.object({ id: z.string(), type: z.literal('public-key') })),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
  })
  .meta({ id: 'PasskeyCreation' });
export type PasskeyCreation = z.infer<typeof passkeyCreation>;

/** A sealed state that the browser sends back. */
export const proposal = z.string().max(2 * base64urlCharsMax);

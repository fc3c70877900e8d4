import { z } from 'zod';
import type { SsoFlow } from './provider.ts';

const ssoFlowTtlMs = 10 * 60 * 1_000;

const flowShape = z.object({
  state: z.string().min(1),
  nonce: z.string().min(1),
  codeVerifier: z.string().min(1),
  // Under clear text another host of the domain can set the cookie.
  to: z.string().transform(returnPath),
});

/**
 * Binds a sign-in to its browser: a link with an attacker's code would sign the victim in as the attacker.
 */
function nameOf(publicUrl: string): string {
  const { protocol, port } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  return `${isSecure ? '__Host-' : ''}weir_sso_${port || (isSecure ? '443' : '80')}`;
}

/** A `Set-Cookie` value; undefined ends the flow. */
export function flowCookie(publicUrl: string, flow: SsoFlow | undefined): string {
  const value = flow === undefined ? '' : Buffer.from(JSON.stringify(flow)).toString('base64url');
  const maxAge = flow === undefined ? 0 : ssoFlowTtlMs / 1_000;
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${nameOf(publicUrl)}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

export function readFlowCookie(header: string | undefined, publicUrl: string): SsoFlow | undefined {
  const name = nameOf(publicUrl);
  for (const pair of header?.split(';') ?? []) {
    const [key, value = ''] = pair.trim().split('=', 2);
    if (key !== name) continue;
    const parsed = flowShape.safeParse(tryParse(Buffer.from(value, 'base64url').toString()));
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Limit of the path shown after single sign-on, in characters: a cookie stores it. */
const returnPathCharsMax = 1_000;

/** Validates the path to show after single sign-on: `//evil.example` would redirect to another site. */
export function returnPath(text: string | null): string {
  if (text === null || text.length > returnPathCharsMax || !/^\/[\x21-\x7e]*$/.test(text)) return '/';
  const base = 'http://dashboard.invalid';
  const url = URL.parse(text, base);
  // The pages use the resolved path: `/.//evil.example` would become `//evil.example`.
  const isOwn = url?.origin === base && !url.pathname.startsWith('//');
  return isOwn && !text.startsWith('//') && !text.includes('\\') ? text : '/';
}

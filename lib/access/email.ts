/** An e-mail address as it is stored and looked up: people do not tell capitals apart in it. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

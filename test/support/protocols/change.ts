/** A call of a mutation that succeeds. */
export interface Change {
  input: unknown;
  /** The session cookie of the caller; undefined for a caller without a session. */
  cookie?: string | undefined;
  /** An unused recovery code of the caller, if a second factor is needed to confirm. */
  code?: () => string;
}

/** W3C Trace Context. */
export interface Traceparent {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const sampledFlag = 1;

/** The header that names a sampled span. */
export function formatTraceparent({ traceId, spanId }: Pick<Traceparent, 'traceId' | 'spanId'>): string {
  return `00-${traceId}-${spanId}-01`;
}

/** @returns undefined without a header, and for one that is not valid. */
export function parseTraceparent(header: string | string[] | undefined): Traceparent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, traceId, spanId, flags] = pattern.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

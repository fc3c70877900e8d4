/** The compressions that a request body may have (docs/api.md). */
export const contentEncodings = ['gzip', 'deflate', 'br', 'zstd'] as const;

export type ContentEncoding = (typeof contentEncodings)[number];

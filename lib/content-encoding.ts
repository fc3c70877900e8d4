/** What a request body may be compressed with (design §3). */
export const contentEncodings = ['gzip', 'deflate', 'br', 'zstd'] as const;

export type ContentEncoding = (typeof contentEncodings)[number];

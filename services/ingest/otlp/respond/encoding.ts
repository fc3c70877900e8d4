import type { RpcEncoding } from '../../rpc/encoding.ts';

/** The protocol of an exporter's request, and whether its message is OTLP/JSON. */
export type ExportEncoding = RpcEncoding | HttpEncoding;

/** OTLP/HTTP. A response has the Content-Type of its request. */
export interface HttpEncoding {
  readonly protocol: 'http';
  readonly isJson: boolean;
}

const contentTypes = /^application\/(?:(json)|x-protobuf|protobuf)[ \t]*(?:;.*)?$/i;

/** @returns undefined for a Content-Type that OTLP/HTTP does not have. */
export function parseHttpEncoding(contentType: string): HttpEncoding | undefined {
  const match = contentTypes.exec(contentType);
  return match === null ? undefined : { protocol: 'http', isJson: match[1] !== undefined };
}

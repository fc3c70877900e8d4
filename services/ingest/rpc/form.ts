/** How a call is written: its protocol, and whether its message is protobuf or protobuf's JSON. */
export interface CallForm {
  readonly protocol: 'connect' | 'grpc' | 'grpc-web';
  readonly isJson: boolean;
}

const contentTypes = /^application\/(?:(grpc|grpc-web)(?:\+(proto|json))?|(proto|json))\s*(?:;.*)?$/i;

/** @returns undefined for a Content-Type that no protocol has. */
export function parseCallForm(contentType: string): CallForm | undefined {
  const match = contentTypes.exec(contentType);
  if (match === null) return undefined;
  const [, envelope, envelopedCodec, bareCodec] = match;
  const protocol = (envelope?.toLowerCase() ?? 'connect') as CallForm['protocol'];
  return { protocol, isJson: (envelopedCodec ?? bareCodec)?.toLowerCase() === 'json' };
}

/** The Content-Type of the answer to such a call. */
export function contentTypeOf({ protocol, isJson }: CallForm): string {
  const codec = isJson ? 'json' : 'proto';
  return protocol === 'connect' ? `application/${codec}` : `application/${protocol}+${codec}`;
}

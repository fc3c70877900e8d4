import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  type Group,
  GroupSchema,
  type Media,
  type Part,
  PartSchema,
  type TraceNodes,
  type TraceNodesSchema,
} from '../../gen/weir/queue/v1/queue_pb.ts';

export type { Group, Media, Part, TraceNodes };
export type PartInit = MessageInitShape<typeof PartSchema>;
/** Without data when the space has them. */
export type MediaInit = Omit<Media, '$typeName' | '$unknown' | 'data'> & { readonly data?: Buffer };
type TraceNodesInit = MessageInitShape<typeof TraceNodesSchema>;

/** The format that this code reads whole. 1: parts only, of Weir 0.1. 2: trace nodes. 3: media. */
export const readerVersion = 3;

/** Encodes the payload of one JetStream message: parts and nodes that are committed together. */
export function encodeGroup(parts: PartInit[], traceNodes: TraceNodesInit[] = []): Uint8Array {
  const hasMedia = traceNodes.some(({ media }) => media !== undefined);
  const minReader = hasMedia ? readerVersion : traceNodes.length > 0 ? 2 : 1;
  return toBinary(GroupSchema, create(GroupSchema, { parts, traceNodes, minReader }));
}

/** @throws when the bytes are not a weir.queue.v1.Group. */
export function decodeGroup(bytes: Uint8Array): Group {
  return fromBinary(GroupSchema, bytes);
}

/** The format of quarantine entries. */
export function encodePart(part: Part): Uint8Array {
  return toBinary(PartSchema, part);
}

/** @throws when the bytes are not a weir.queue.v1.Part. */
export function decodePart(bytes: Uint8Array): Part {
  return fromBinary(PartSchema, bytes);
}

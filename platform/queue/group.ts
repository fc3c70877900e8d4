import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  type Group,
  GroupSchema,
  type Part,
  PartSchema,
  type TraceNodes,
  type TraceNodesSchema,
} from '../../gen/weir/queue/v1/queue_pb.ts';

export type { Group, Part, TraceNodes };
export type PartInit = MessageInitShape<typeof PartSchema>;
type TraceNodesInit = MessageInitShape<typeof TraceNodesSchema>;

/** The format that this code reads whole. 1: parts only, of Weir 0.1. 2: trace nodes. */
export const readerVersion = 2;

/** Encodes the payload of one JetStream message: parts and nodes that are committed together. */
export function encodeGroup(parts: PartInit[], traceNodes: TraceNodesInit[] = []): Uint8Array {
  const minReader = traceNodes.length > 0 ? 2 : 1;
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

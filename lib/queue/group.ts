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

/** Encodes the payload of one JetStream message: parts and nodes that are committed together. */
export function encodeGroup(parts: PartInit[], traceNodes: TraceNodesInit[] = []): Uint8Array {
  return toBinary(GroupSchema, create(GroupSchema, { parts, traceNodes }));
}

/** @throws when the bytes are not a weir.queue.v1.Group. */
export function decodeGroup(bytes: Uint8Array): Group {
  return fromBinary(GroupSchema, bytes);
}

/** Encodes a single part, the format of quarantine entries. */
export function encodePart(part: Part): Uint8Array {
  return toBinary(PartSchema, part);
}

/** @throws when the bytes are not a weir.queue.v1.Part. */
export function decodePart(bytes: Uint8Array): Part {
  return fromBinary(PartSchema, bytes);
}

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { expect, test } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import {
  AnyValueSchema,
  ArrayValueSchema,
  InstrumentationScopeSchema,
  KeyValueListSchema,
  KeyValueSchema,
} from '../../../../gen/opentelemetry/proto/common/v1/common_pb.ts';
import { ResourceSchema } from '../../../../gen/opentelemetry/proto/resource/v1/resource_pb.ts';
import {
  ResourceSpansSchema,
  ScopeSpansSchema,
  Span_EventSchema,
  Span_LinkSchema,
  SpanSchema,
  StatusSchema,
} from '../../../../gen/opentelemetry/proto/trace/v1/trace_pb.ts';
import { tags } from './tags.ts';

const messages: Record<keyof typeof tags, DescMessage> = {
  request: ExportTraceServiceRequestSchema,
  resourceSpans: ResourceSpansSchema,
  resource: ResourceSchema,
  scopeSpans: ScopeSpansSchema,
  scope: InstrumentationScopeSchema,
  span: SpanSchema,
  event: Span_EventSchema,
  link: Span_LinkSchema,
  status: StatusSchema,
  keyValue: KeyValueSchema,
  anyValue: AnyValueSchema,
  arrayValue: ArrayValueSchema,
  keyValueList: KeyValueListSchema,
};

const wireTypes: Partial<Record<ScalarType, WireType>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.BOOL]: WireType.Varint,
  [ScalarType.INT64]: WireType.Varint,
  [ScalarType.UINT32]: WireType.Varint,
};

function tagOf(field: DescField): number {
  const wireType =
    field.fieldKind === 'enum'
      ? WireType.Varint
      : field.fieldKind === 'scalar'
        ? (wireTypes[field.scalar] ?? WireType.LengthDelimited)
        : WireType.LengthDelimited;
  return (field.number << 3) | wireType;
}

test.each(Object.keys(messages) as (keyof typeof tags)[])(
  'the tags of %s are those of its descriptor',
  (name) => {
    const described = Object.fromEntries(
      messages[name].fields.map((field) => [field.localName, tagOf(field)]),
    );
    expect(tags[name]).toEqual(described);
  },
);

import type { WireReader } from '../../read/protobuf-wire.ts';
import { readText } from './any-value.ts';
import { noAttributes } from './attributes.ts';
import {
  AttributeCollector,
  type Attributed,
  attributeFields,
  type FieldReaders,
  field,
  readFields,
} from './protobuf-fields.ts';
import type { SpanSource } from './span.ts';
import { tags } from './tags.ts';

/** The position of a message; `end` is exclusive. */
export interface MessageRange {
  readonly start: number;
  readonly end: number;
}

/** The position of the messages that describe the source of some spans. They may come after the spans. */
export interface SourceRange {
  readonly resource: { description?: MessageRange; schemaUrl: string };
  scope?: MessageRange;
  schemaUrl: string;
}

type ReadMessage = <T>(range: MessageRange, read: (reader: WireReader, end: number) => T) => T;

/** Reads the resource and the scope of spans. */
export function readProtobufSource(
  { resource, scope, schemaUrl }: SourceRange,
  read: ReadMessage,
): SpanSource {
  const { description } = resource;
  return {
    resource: {
      ...(description === undefined ? undescribed : read(description, readResource)),
      schemaUrl: resource.schemaUrl,
    },
    scope: { ...(scope === undefined ? unnamed : read(scope, readScope)), schemaUrl },
  };
}

const undescribed = { attributes: noAttributes, droppedAttributes: 0 };
const unnamed = { ...undescribed, name: '', version: '' };

const resourceFields: FieldReaders<Attributed> = attributeFields(tags.resource);

function readResource(reader: WireReader, end: number): typeof undescribed {
  const draft = { attributes: new AttributeCollector(), droppedAttributes: 0 };
  const resource = readFields(reader, end, resourceFields, draft);
  return { ...resource, attributes: resource.attributes.toAttributes(reader) };
}

interface ScopeDraft extends Attributed {
  name: string;
  version: string;
}

const scopeFields: FieldReaders<ScopeDraft> = {
  [tags.scope.name]: field('name', readText),
  [tags.scope.version]: field('version', readText),
  ...attributeFields(tags.scope),
};

function readScope(reader: WireReader, end: number): typeof unnamed {
  const draft = { name: '', version: '', attributes: new AttributeCollector(), droppedAttributes: 0 };
  const scope = readFields(reader, end, scopeFields, draft);
  return { ...scope, attributes: scope.attributes.toAttributes(reader) };
}

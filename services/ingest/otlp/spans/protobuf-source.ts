import type { WireReader } from '../../read/protobuf-wire.ts';
import { readText } from './any-value.ts';
import { noAttributes } from './attributes.ts';
import {
  type Attributed,
  attributeFields,
  type FieldReaders,
  field,
  readAttributed,
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
  return readAttributed(reader, end, resourceFields, {});
}

const scopeFields: FieldReaders<{ name: string; version: string } & Attributed> = {
  [tags.scope.name]: field('name', readText),
  [tags.scope.version]: field('version', readText),
  ...attributeFields(tags.scope),
};

function readScope(reader: WireReader, end: number): typeof unnamed {
  return readAttributed(reader, end, scopeFields, { name: '', version: '' });
}

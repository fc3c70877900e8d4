import { createFileRegistry, type DescField, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { file_opentelemetry_proto_collector_trace_v1_trace_service as service } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { file_opentelemetry_proto_common_v1_common as common } from '../../gen/opentelemetry/proto/common/v1/common_pb.ts';
import { file_opentelemetry_proto_resource_v1_resource as resource } from '../../gen/opentelemetry/proto/resource/v1/resource_pb.ts';
import { file_opentelemetry_proto_trace_v1_trace as trace } from '../../gen/opentelemetry/proto/trace/v1/trace_pb.ts';
import { buildTimeoutMs, PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { readRecipePage } from '../support/otlp/recipe-page.ts';
import { installRecipe } from '../support/otlp/recipe-program.ts';

/** Prints the descriptors of `opentelemetry-proto`, the package that Python's exporters use. */
const printDescriptors = `
import base64
from google.protobuf import descriptor_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
files, names = descriptor_pb2.FileDescriptorSet(), set()
def add(file):
    for other in file.dependencies:
        add(other)
    if file.name not in names:
        names.add(file.name)
        file.CopyToProto(files.file.add())
add(trace_service_pb2.DESCRIPTOR)
print(base64.b64encode(files.SerializeToString()).decode())
`;

const { recipes } = readRecipePage(new URL('../../docs/opentelemetry.md', import.meta.url));
const python = recipes.find(({ tools }) => tools.includes('python3'));
const missing = findMissingTool(['python3']);
if (missing !== undefined) console.warn(`The protos of OTLP are not compared: ${missing}`);

test.skipIf(missing !== undefined)(
  'the messages that Weir reads have the names, numbers and types of opentelemetry-proto',
  { timeout: buildTimeoutMs + 30_000 },
  async (context) => {
    if (python === undefined) throw new Error('the page has no recipe in Python');
    const cwd = await installRecipe(python).catch((error) => {
      if (!(error instanceof PackagesUnreachableError)) throw error;
      return context.skip('its packages cannot be downloaded');
    });
    const script = `.venv/bin/python -c '${printDescriptors}'`;
    const { stdout, stderr } = await runShell(script, { cwd, env: process.env, timeoutMs: 60_000 });
    expect(stderr).toBe('');
    const theirs = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(stdout, 'base64')));
    const ours = [common, resource, trace, service].flatMap((file) => [...nestedTypes(file)]);
    const messages = ours.filter((type) => type.kind === 'message');
    expect(messages.length).toBeGreaterThan(12);
    for (const message of messages)
      expect(fieldsOf(message)).toEqual(fieldsOf(theirs.getMessage(message.typeName), message));
    for (const type of ours.filter(({ kind }) => kind === 'enum')) {
      if (type.kind !== 'enum') continue;
      const known = theirs.getEnum(type.typeName)?.values.map(({ name, number }) => [name, number]);
      expect(known).toEqual(type.values.map(({ name, number }) => [name, number]));
    }
    const [own] = ours.filter((type) => type.kind === 'service');
    expect(theirs.getService(own?.typeName ?? '')?.methods.map(({ name }) => name)).toEqual(
      own?.methods.map(({ name }) => name),
    );
  },
);

/** Describes a message. @param of another version of it: only fields that it has are included. */
function fieldsOf(message: DescMessage | undefined, of = message): unknown {
  const names = new Set(of?.fields.map(({ name }) => name));
  const known = message?.fields.filter(({ name }) => names.has(name)).map(describeField);
  return known?.toSorted((a, b) => a.number - b.number);
}

function describeField(field: DescField) {
  const { name, number, fieldKind, message, enum: enumType, scalar, oneof } = field;
  const type = message?.typeName ?? enumType?.typeName ?? scalar;
  const element = field.fieldKind === 'list' ? field.listKind : undefined;
  return { name, number, fieldKind, type, element, oneof: oneof?.name };
}

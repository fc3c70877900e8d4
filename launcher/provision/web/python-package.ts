import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';

const sdk = fileURLToPath(new URL('../../../sdk/python', import.meta.url));

/** Writes the Python SDK as a wheel for pip: `<dashboard>/weir_sdk-<version>-py3-none-any.whl`. */
export function packPythonSdk(directory: string): void {
  const { name, version, python } = readProject();
  const info = `weir_sdk-${version}.dist-info`;
  const sources = globSync('weir/**/{*.py,py.typed}', { cwd: join(sdk, 'src') }).sort();
  const files = new Map<string, Buffer>(
    sources.map((path) => [path, readFileSync(join(sdk, 'src', path))] as const),
  );
  files.set(`${info}/licenses/LICENSE`, readFileSync(join(sdk, 'LICENSE')));
  files.set(
    `${info}/METADATA`,
    Buffer.from(
      `Metadata-Version: 2.4\nName: ${name}\nVersion: ${version}\nRequires-Python: ${python}\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\n`,
    ),
  );
  files.set(
    `${info}/WHEEL`,
    Buffer.from('Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  );
  const record = Array.from(files, ([path, content]) => {
    const hash = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${hash},${content.length}\n`;
  });
  files.set(`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`));
  writeFileSync(join(directory, `weir_sdk-${version}-py3-none-any.whl`), zip(files));
}

function readProject(): { name: string; version: string; python: string } {
  const text = readFileSync(join(sdk, 'pyproject.toml'), 'utf8');
  const read = (field: string) => new RegExp(`^${field} = "(.*)"$`, 'm').exec(text)?.[1] ?? '';
  return { name: read('name'), version: read('version'), python: read('requires-python') };
}

/** A ZIP file (APPNOTE 4.3). Entries have the format's earliest time: the same files make the same bytes. */
function zip(files: ReadonlyMap<string, Buffer>): Buffer {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const packed = deflateRawSync(content);
    const head = describe(path, content, packed.length);
    const name = Buffer.from(path);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), head, name, packed]);
    const place = Buffer.alloc(14);
    // Readable by all, a regular file.
    place.writeUInt32LE(0o100644 * 0x1_0000, 6);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), head, place, name);
    entries.push(entry);
    offset += entry.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...entries, ...directory, end]);
}

/** The fields that a file's own header and its entry in the directory share. */
function describe(path: string, content: Buffer, packedBytes: number): Buffer {
  const head = Buffer.alloc(26);
  head.writeUInt16LE(20, 0);
  head.writeUInt16LE(8, 4);
  // 1 January 1980.
  head.writeUInt16LE(0x21, 8);
  head.writeUInt32LE(crc32(content), 10);
  head.writeUInt32LE(packedBytes, 14);
  head.writeUInt32LE(content.length, 18);
  head.writeUInt16LE(Buffer.byteLength(path), 22);
  return head;
}

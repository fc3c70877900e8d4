import { readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

const compressible = ['.js', '.css', '.svg', '.html'];

/** Smaller files are not compressed: it would save nothing. */
const bytesMin = 512;

/** Writes a `.br` and a `.gz` file next to each text file of a directory, at the highest compression level. */
export async function precompress(directory: string): Promise<void> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && compressible.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(files.map(compressFile));
}

async function compressFile(file: string): Promise<void> {
  const text = await readFile(file);
  if (text.length < bytesMin) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(text, {
      params: { [zlib.BROTLI_PARAM_SIZE_HINT]: text.length, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT },
    }),
    promisify(gzip)(text, { level: zlib.Z_BEST_COMPRESSION }),
  ]);
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gz);
}

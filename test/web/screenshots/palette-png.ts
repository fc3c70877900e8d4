import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** Colours of a picture: text in four colours has some hundred shades, of which these are enough. */
const coloursMax = 192;
const exactColours = 64;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const [trueColour, trueColourAlpha] = [2, 6];

interface Pixels {
  width: number;
  height: number;
  /** Red, green and blue as one number for each pixel, in rows from the top. */
  colours: Uint32Array;
}

/** Draws a screenshot of Chromium with a palette: a third of the bytes, and flat colours stay exact. */
export function reduceColours(png: Buffer): Buffer {
  const { width, height, colours } = decode(png);
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = choosePalette([...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour));
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, colour] of colours.entries())
    rows[at + Math.floor(at / width) + 1] = places.get(colour) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => [...channels(colour)]))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent colours, which are those of surfaces, and of the others those that differ most. */
function choosePalette(byFrequency: readonly number[]): number[] {
  for (let apart = 0; ; apart += 4) {
    const palette = byFrequency.slice(0, exactColours);
    for (const colour of byFrequency.slice(exactColours)) {
      if (palette.every((one) => distance(one, colour) > apart ** 2)) palette.push(colour);
      if (palette.length > coloursMax) break;
    }
    if (palette.length <= coloursMax) return palette;
  }
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [place, one] of palette.entries()) {
    const far = distance(one, colour);
    if (far < least) [best, least] = [place, far];
  }
  return best;
}

function distance(a: number, b: number): number {
  const [one, other] = [channels(a), channels(b)];
  return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2;
}

function channels(colour: number): [number, number, number] {
  return [colour >>> 16, (colour >>> 8) & 0xff, colour & 0xff];
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** @throws RangeError for a format that Chromium does not write. */
function decode(png: Buffer): Pixels {
  const data: Buffer[] = [];
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
  }
  const [width, height, bits, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25] ?? 0];
  if (bits !== 8 || ![trueColour, trueColourAlpha].includes(kind))
    throw new RangeError(`A PNG of ${bits} bits and colour type ${kind}`);
  const step = kind === trueColour ? 3 : 4;
  const bytes = removeFilters(inflateSync(Buffer.concat(data)), { step, rowBytes: width * step });
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at++) colours[at] = bytes.readUIntBE(at * step, 3);
  return { width, height, colours };
}

/** Each row begins with the number of its filter, which predicts a byte by those left, above and between. */
function removeFilters(rows: Buffer, { step, rowBytes }: { step: number; rowBytes: number }): Buffer {
  const height = rows.length / (rowBytes + 1);
  const bytes = Buffer.alloc(height * rowBytes);
  for (let row = 0; row < height; row++) {
    const filter = rows[row * (rowBytes + 1)] ?? 0;
    for (let column = 0; column < rowBytes; column++) {
      const at = row * rowBytes + column;
      const left = column < step ? 0 : (bytes[at - step] ?? 0);
      const above = bytes[at - rowBytes] ?? 0;
      const between = column < step ? 0 : (bytes[at - rowBytes - step] ?? 0);
      const predictions = [0, left, above, (left + above) >> 1, paeth(left, above, between)];
      bytes[at] = (rows[row * (rowBytes + 1) + column + 1] ?? 0) + (predictions[filter] ?? 0);
    }
  }
  return bytes;
}

function paeth(left: number, above: number, between: number): number {
  const toLeft = Math.abs(above - between);
  const toAbove = Math.abs(left - between);
  const toBetween = Math.abs(left + above - 2 * between);
  if (toLeft <= toAbove && toLeft <= toBetween) return left;
  return toAbove <= toBetween ? above : between;
}

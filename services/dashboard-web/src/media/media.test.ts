import { expect, test } from 'vitest';
import { readMedia, splitMedia } from './base64.ts';
import { decodeImage } from './image.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const webp = 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==';
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');

test.for([
  [png, 'image/png'],
  [gif, 'image/gif'],
  [webp, 'image/webp'],
  ['/9j/4AAQSkZJRgABAQ', 'image/jpeg'],
])('an image is known by its bytes: %s', ([base64 = '', type = '']) => {
  expect(readMedia(base64)).toEqual({ label: type, image: type, prefix: 0 });
  // Whatever it is called.
  const url = `data:text/html;charset=utf-8;base64,${base64}`;
  expect(readMedia(url)).toEqual({ label: 'text/html', image: type, prefix: url.length - base64.length });
});

test('what is no image of a shown type never is one, whatever it is called', () => {
  for (const type of ['image/svg+xml', 'image/png'])
    expect(readMedia(`data:${type};base64,${svg}`)?.image).toBeUndefined();
  expect(readMedia('plain text')).toBeUndefined();
});

test('the pieces of a text are the text, and long base64 of images is one of them', () => {
  const bare = png.slice(0, 40) + 'A'.repeat(500);
  const text = `before data:image/png;base64,${png} between "${bare}" after data:x and ${'x'.repeat(5_000)}`;
  const pieces = splitMedia(text);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  expect(pieces.map(({ media }) => media?.image)).toEqual([
    undefined,
    'image/png',
    undefined,
    'image/png',
    undefined,
  ]);
  expect(splitMedia('')).toEqual([{ text: '' }]);
});

test('base64 in the source of JSON is found with its escapes, and ends at another escape', () => {
  const escaped = `${gif}${'A'.repeat(64)}`.replaceAll('/', '\\/');
  expect(escaped).toContain('\\/');
  const jpeg = `\\/9j\\/${'4AAQ\\/'.repeat(100)}`;
  const url = `data:image\\/gif;base64,${escaped}`;
  const text = `{"a":"${url}","b":"${jpeg}","c":"data:image/gif;base64,${escaped}\\nHello"}`;
  const pieces = splitMedia(text);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  const media = pieces.filter((piece) => piece.media !== undefined);
  expect(media.map((piece) => piece.media?.image)).toEqual(['image/gif', 'image/jpeg', 'image/gif']);
  expect(pieces.at(-1)?.text).toBe('\\nHello"}');
  const [first] = media;
  expect(decodeImage(first?.text.slice(first.media?.prefix) ?? '', 'image/gif')).toMatchObject({ width: 1 });
  // As long as an event can be.
  expect(splitMedia(`${url}${'A\\/'.repeat(1_300_000)}`)).toHaveLength(1);
});

test('an image is drawn at the size of its header, and a huge or broken one is not', () => {
  expect(decodeImage(png, 'image/png')).toMatchObject({ width: 1, height: 1 });
  expect(decodeImage(gif, 'image/gif')).toMatchObject({ width: 1, height: 1 });
  expect(decodeImage(webp, 'image/webp')).toMatchObject({ width: 1, height: 1 });
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b0800100020010111', 'hex');
  expect(decodeImage(jpeg.toString('base64'), 'image/jpeg')).toMatchObject({ width: 32, height: 16 });
  const huge = Buffer.from(png, 'base64');
  huge.writeUInt32BE(60_000, 16);
  huge.writeUInt32BE(60_000, 20);
  expect(decodeImage(huge.toString('base64'), 'image/png')).toBe(
    'The image is too large to display: 60000 × 60000 pixels.',
  );
  for (const broken of ['iVBORw0KGgo', '%%%'])
    expect(decodeImage(broken, 'image/png')).toBe('The image is incomplete.');
});

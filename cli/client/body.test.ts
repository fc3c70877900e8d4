import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyText, objectText, valueText } from '../../harness/fixtures/json-text.ts';
import { type Body, batchBodies, createBodyMemory, splitBody } from './body.ts';
import { withFreshId } from './fresh-id.ts';

const anyEvents = fc.array(
  fc.record({
    line: fc.nat(),
    bytes: fc.string({ minLength: 1, maxLength: 30 }).map((text) => Buffer.from(JSON.stringify(text))),
  }),
);
/** The events of a body, cut out of its bytes. */
const eventsOf = (body: Body) =>
  body.events.map(({ line, start, end }) => ({ line, bytes: body.bytes.subarray(start, end) }));

test('bodies contain every event once, in order, byte for byte, within both limits', async () => {
  const anyLimits = fc.record({
    eventsMax: fc.integer({ min: 1, max: 6 }),
    bytesMax: fc.integer({ min: 150, max: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(anyEvents, anyLimits, async (events, limits) => {
      const bodies = await Array.fromAsync(batchBodies(events, limits));
      const inside = bodies.map(({ bytes }) => bytes.toString().slice('{"events":['.length, -']}'.length));
      expect(inside.join(',')).toBe(events.map(({ bytes }) => bytes).join(','));
      expect(bodies.flatMap(eventsOf)).toEqual(events);
      for (const body of bodies) {
        expect(JSON.parse(body.bytes.toString()).events).toHaveLength(body.events.length);
        expect(body.events.length).toBeLessThanOrEqual(limits.eventsMax);
        expect(body.bytes.length).toBeLessThanOrEqual(limits.bytesMax);
      }
    }),
  );
});

test('bodies in memory that is used again are the same', async () => {
  const limits = { eventsMax: 4, bytesMax: 100 };
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      const memory = createBodyMemory(limits.bytesMax);
      const buffers = new Set<ArrayBufferLike>();
      const texts: string[] = [];
      for await (const body of batchBodies(events, limits, memory.take)) {
        texts.push(`${body.bytes} ${JSON.stringify(body.events)}`);
        if (body.bytes.length <= limits.bytesMax) buffers.add(body.bytes.buffer);
        memory.giveBack(body);
      }
      const bodies = await Array.fromAsync(batchBodies(events, limits));
      expect(texts).toEqual(bodies.map((body) => `${body.bytes} ${JSON.stringify(body.events)}`));
      expect(buffers.size).toBeLessThanOrEqual(1);
    }),
  );
});

test('the halves of a body contain its events, each with its line, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      fc.pre(events.length > 1);
      for await (const body of batchBodies(events, { eventsMax: 500, bytesMax: 10_000 })) {
        const halves = splitBody(body);
        expect(halves.flatMap(eventsOf)).toEqual(events);
        for (const half of halves) {
          expect(JSON.parse(half.bytes.toString()).events).toHaveLength(half.events.length);
          expect(half.events.length).toBeLessThanOrEqual(Math.ceil(events.length / 2));
        }
      }
    }),
  );
});

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const anyEvent = objectText(
  fc.array(fc.tuple(fc.oneof(keyText('id'), fc.constantFrom('"Id"', '"a"')), valueText('id')), {
    maxLength: 4,
  }),
).map((text) => Buffer.from(text));

test('a fresh id replaces the id that JSON.parse sees, and nothing else', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const before = JSON.parse(event.toString());
      const after = JSON.parse(withFreshId(event).toString());
      if (Object.hasOwn(before, 'id')) expect(after.id).toMatch(uuid);
      expect({ ...after, id: before.id }).toEqual({ ...before, id: before.id });
    }),
  );
});

test('replacing an id changes no other byte', () => {
  const event = '{ "n":9007199254740993, "\\u0069d" :\t"old", "p":{"id":"kept"}, "s":"\\ud800" }';
  const fresh = withFreshId(Buffer.from(event)).toString();
  const { id } = JSON.parse(fresh);
  expect(fresh).toBe(event.replace('old', id));
});

test('a damaged event whose id cannot be found is unchanged', () => {
  for (const event of ['{"id" "old"}', '{"\\q":1,"id":"old"}', '{"id":"old"]']) {
    expect(withFreshId(Buffer.from(event)).toString()).toBe(event);
  }
});

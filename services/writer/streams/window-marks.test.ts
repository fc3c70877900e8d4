import { expect, test } from 'vitest';
import { WindowMarks } from './window-marks.ts';

const windowMs = 100_000;
const now = Date.UTC(2026, 10, 23);

test('messages expire a window after the stream was seen with them, whatever any clock says', () => {
  const marks = new WindowMarks({ windowMs, nowMs: now, firstAtMs: undefined, lastSequence: 0, atMs: 5_000 });
  for (let second = 0; second < 150; second++) marks.note(second * 10, 5_000 + second * 1_000);
  expect(marks.expiredUpTo(5_000 + windowMs - 1)).toBe(0);
  expect(marks.expiredUpTo(5_000 + windowMs + 10_000)).toBe(100);
  // What was reported once is forgotten.
  expect(marks.expiredUpTo(5_000 + windowMs + 10_000)).toBe(0);
});

/**
 * A stream of one message a second, from a window before the start, with the times that `timeOf` gives them.
 */
function watch(nowMs: number, timeOf: (sequence: number) => number) {
  const marks = new WindowMarks({ windowMs, nowMs, firstAtMs: timeOf(1), lastSequence: 100, atMs: 0 });
  /** Looks every second until then. Returns the highest sequence that has expired. */
  let first = 1;
  let atMs = 0;
  let expired = 0;
  return (untilMs: number) => {
    for (; atMs <= untilMs; atMs += 1_000) {
      marks.note(100 + atMs / 1_000, atMs);
      const sequence = marks.findUnknown(first, timeOf(first), atMs);
      if (sequence !== undefined)
        marks.learn({ sequence, acceptedAtMs: timeOf(sequence), firstAtMs: timeOf(first) });
      expired = Math.max(expired, marks.expiredUpTo(atMs));
      first = Math.max(first, expired + 1);
    }
    return expired;
  };
}

const right = (sequence: number) => now - (101 - sequence) * 1_000;

test('after a restart messages expire by their times', () => {
  const look = watch(now, right);
  for (let second = 0; second < 100; second++) expect(look(second * 1_000)).toBeLessThanOrEqual(second + 1);
  // A bisection needs some looks.
  const looked = watch(now, right);
  expect(looked(60_000)).toBeGreaterThan(45);
  expect(looked(windowMs)).toBe(100);
});

test('a clock that is 40 days ahead or behind at a restart expires nothing early, and nothing stays for longer than a window', () => {
  const days = 40 * 86_400_000;
  for (const wrong of [now + days, now - days]) {
    const look = watch(wrong, right);
    for (let second = 0; second < 100; second++) expect(look(second * 1_000)).toBeLessThanOrEqual(second + 1);
    expect(look(windowMs)).toBe(100);
  }
});

test('times out of order expire nothing early', () => {
  const days = 40 * 86_400_000;
  for (const wrong of [days, -days]) {
    // The clock of nats-server was wrong for some seconds, in the middle.
    const look = watch(now, (sequence) => right(sequence) + (sequence > 30 && sequence < 60 ? wrong : 0));
    for (let second = 0; second < 100; second++) expect(look(second * 1_000)).toBeLessThanOrEqual(second + 1);
    expect(look(windowMs)).toBe(100);
  }
});

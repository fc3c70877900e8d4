import { useEffect, useState } from 'react';

/** The pause in typing after which values are asked for, in milliseconds. */
const pauseMs = 150;

/** A value of JSON, once it has not changed for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a value with the same JSON is the same.
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

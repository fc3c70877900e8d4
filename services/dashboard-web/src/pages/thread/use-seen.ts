import { type RefObject, useEffect, useRef, useState } from 'react';

/** Pixels before the window's edge at which a part counts as seen. */
const marginPx = 400;

/** Whether an element was near the window once. */
export function useSeen(): [RefObject<HTMLElement | null>, boolean] {
  const place = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null || isSeen) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true);
      },
      { rootMargin: `${marginPx}px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return [place, isSeen];
}

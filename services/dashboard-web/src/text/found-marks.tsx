import { createContext, type RefObject, useContext, useEffect } from 'react';
import { hasMatch, ignoringCase } from './ignoring-case.ts';

/** The text that the reader searched for and found here; empty when there was no search. */
const FoundText = createContext('');

export const FoundTextProvider = FoundText.Provider;

export function useFoundText(): string {
  return useContext(FoundText);
}

/** Whether a text has what the reader searched for, and so must not be folded or cut. */
export function useIsFound(): (text: string) => boolean {
  const found = useFoundText();
  return (text) => found !== '' && hasMatch(text, ignoringCase(found));
}

/** The name of the highlight in styles.css. */
const highlightName = 'found';

/** More hits than this are not marked: a short text would mark a page of megabytes. */
const marksMax = 2_000;

/** Marks a text in upper or lower case, also in parts drawn later, and may scroll to the first hit. */
export function useFoundMarks(
  element: RefObject<HTMLElement | null>,
  text: string,
  { scrolls = false } = {},
): void {
  useEffect(() => {
    const root = element.current;
    // Firefox before version 140 has no highlights.
    if (root === null || text === '' || !('highlights' in CSS)) return;
    const own = new Set<AbstractRange>();
    const highlight = CSS.highlights.get(highlightName) ?? new Highlight();
    CSS.highlights.set(highlightName, highlight);
    const clear = () => {
      for (const range of own) highlight.delete(range);
      own.clear();
    };
    let isScrolled = !scrolls;
    const mark = () => {
      clear();
      for (const range of findRanges(root, ignoringCase(text))) {
        highlight.add(range);
        own.add(range);
        if (!isScrolled) scrollTo(range);
        isScrolled = true;
      }
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(root, { subtree: true, childList: true, characterData: true });
    return () => {
      observer.disconnect();
      clear();
    };
  }, [element, text, scrolls]);
}

/** Not `scrollIntoView`: the element of a hit may be higher than the window. */
function scrollTo(range: Range): void {
  for (let node = range.startContainer.parentElement; node !== null; node = node.parentElement) {
    if (!/auto|scroll/.test(getComputedStyle(node).overflowY)) continue;
    const { top, height } = node.getBoundingClientRect();
    node.scrollTop += range.getBoundingClientRect().top - top - height / 2;
  }
}

function findRanges(root: HTMLElement, wanted: RegExp): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < marksMax) {
    const node = walker.currentNode;
    for (const { 0: found, index } of node.nodeValue?.matchAll(wanted) ?? []) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      ranges.push(range);
    }
  }
  return ranges;
}

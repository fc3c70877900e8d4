import { createContext, type RefObject, useContext, useEffect } from 'react';
import { ignoringCase } from './ignoring-case.ts';

/** The text that the reader searched for and found here; empty when there was no search. */
const FoundText = createContext('');

export const FoundTextProvider = FoundText.Provider;

export function useFoundText(): string {
  return useContext(FoundText);
}

/** The name of the highlight in styles.css. */
const highlightName = 'found';

/** More hits than this are not marked: a short text would mark a page of megabytes. */
const marksMax = 2_000;

/** Marks a text in upper or lower case, also in parts that are drawn later. */
export function useFoundMarks(element: RefObject<HTMLElement | null>, text: string): void {
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
    const mark = () => {
      clear();
      for (const range of findRanges(root, ignoringCase(text))) {
        highlight.add(range);
        own.add(range);
      }
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(root, { subtree: true, childList: true, characterData: true });
    return () => {
      observer.disconnect();
      clear();
    };
  }, [element, text]);
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

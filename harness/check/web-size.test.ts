import { expect, test } from 'vitest';
import { findFirst, findOverweight, webBudgets } from './web-size.ts';

test('a first page needs what its scripts import, and not what they load later', () => {
  const files: Record<string, string> = {
    'index-a.js': 'import{x}from"./shared-b.js";import"./side-c.js";const l=()=>import("./page-d.js");',
    'shared-b.js': 'import{y}from"./index-a.js";',
    'side-c.js': '',
    'page-d.js': 'import"./never-e.js"',
  };
  const html = '<script type="module" src="./assets/index-a.js"></script><link href="./assets/index-f.css">';
  expect(findFirst(html, (name) => files[name] ?? '').sort()).toEqual([
    'index-a.js',
    'index-f.css',
    'shared-b.js',
    'side-c.js',
  ]);
});

test('a size over its budget is named', () => {
  expect(findOverweight({ ...webBudgets })).toEqual([]);
  expect(findOverweight({ ...webBudgets, firstStyles: 15_001 })).toEqual([
    'firstStyles: 15001 bytes, 15000 are allowed',
  ]);
});

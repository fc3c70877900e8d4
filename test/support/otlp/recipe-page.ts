import { readFileSync } from 'node:fs';
import type { Tool } from '../tools/toolchain.ts';

/** One section of docs/opentelemetry.md that can be run. */
export interface Recipe {
  readonly title: string;
  readonly tools: readonly Tool[];
  /** The commands that install its packages. */
  readonly install: readonly string[];
  /** The commands that run it, after those that set variables. */
  readonly run: string;
  /** Files that the page spells out, by name. */
  readonly files: ReadonlyMap<string, string>;
}

export interface RecipePage {
  /** Sets the variables that all recipes have in common. */
  readonly variables: string;
  readonly recipes: readonly Recipe[];
}

/** What the recipes of a chapter need to be run. */
const chapters: Readonly<Record<string, readonly Tool[]>> = {
  JavaScript: ['npm'],
  Python: ['python3'],
  Go: ['go'],
};

interface Section {
  readonly chapter: string;
  readonly title: string;
  readonly commands: string[];
  readonly files: Map<string, string>;
}

/**
 * Reads the page: `##` begins a chapter, `###` a recipe of it. A block of `sh` is commands, a block with a file name is a
 * file, and a chapter's files are those of all its recipes. A recipe's first commands install it, and its last run it.
 */
export function readRecipePage(url: URL): RecipePage {
  const sections = readSections(readFileSync(url, 'utf8'));
  const variables = sections.filter(({ chapter }) => chapter === 'Variables');
  const recipes = sections.filter(({ chapter, title }) => title !== '' && chapter in chapters);
  return {
    variables: variables.flatMap(({ commands }) => commands).join(''),
    recipes: recipes.map((section) => {
      const own = sections.find(({ chapter, title }) => chapter === section.chapter && title === '');
      const [install = '', run = '', ...others] = section.commands;
      if (run === '' || others.length > 0) throw new Error(`${section.title} has no two blocks of commands`);
      return {
        title: section.title,
        tools: chapters[section.chapter] ?? [],
        install: install.trim().split('\n'),
        run,
        files: new Map([...(own?.files ?? []), ...section.files]),
      };
    }),
  };
}

const part = /^(##|###) (.+)\n|^```(\w+)(?: (\S+))?\n([\s\S]*?)^```\n/gm;

function readSections(page: string): Section[] {
  const sections: Section[] = [];
  const begin = (chapter: string, title: string) =>
    sections.push({ chapter, title, commands: [], files: new Map() });
  begin('', '');
  for (const [, level, title = '', language, file, content = ''] of page.matchAll(part)) {
    const section = sections.at(-1);
    if (level === '##') begin(title, '');
    else if (level === '###') begin(section?.chapter ?? '', title);
    else if (file !== undefined) section?.files.set(file, content);
    else if (language === 'sh') section?.commands.push(content);
  }
  return sections;
}

import { readFileSync } from 'node:fs';
import type { Tool } from '../../../harness/tools/toolchain.ts';

/** A runnable section of docs/opentelemetry.md. */
export interface Recipe {
  readonly title: string;
  readonly tools: readonly Tool[];
  /** The commands that install its packages. */
  readonly install: readonly string[];
  /** The commands that run it, after those that set variables. */
  readonly run: string;
  /** Files that the page contains, by name. */
  readonly files: ReadonlyMap<string, string>;
}

export interface RecipePage {
  /** Commands that set the variables shared by all recipes. */
  readonly variables: string;
  readonly recipes: readonly Recipe[];
}

/** What is needed to run the recipes of a chapter. */
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
 * Parses the page: `##` begins a chapter, `###` a recipe of it. A block of `sh` contains commands, a block
 * with a file name is a file, and the files of a chapter belong to all its recipes. The first commands of a
 * recipe install it, the last ones run it.
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
      if (run === '' || others.length > 0)
        throw new Error(`${section.title} must have two blocks of commands`);
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

import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { budgets } from './budgets.ts';

const order = Object.keys(budgets);

/** Runs the files with a budget of their own first, and the others by size, as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification) => {
      const rank = order.indexOf(relative(project.config.root, moduleId));
      return rank === -1 ? order.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

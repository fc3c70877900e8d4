import { relative } from 'node:path';
import { env } from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';
import { budgets, defaultBudget } from './budgets.ts';

/**
 * How much more CPU time than its budget a file may take. On a busy machine the same work takes up to a half
 * more, because processes share the caches of the processor, and the first file of a process pays for what it
 * imports.
 */
const tolerance = 3;

/**
 * The projects whose files have budgets: the others build and run programs in other languages, or need
 * packages of their own.
 */
const held = ['main', 'slow'];

/** The number of files that are printed when none is over its budget. */
const printedMax = 5;

/**
 * Prints which test files took most CPU time of their processes, and which are over their budgets. With
 * HOLD_TEST_BUDGETS, as in `.ci/run`, the run then fails. CPU time, because the time on a clock depends on
 * what else the machine does.
 */
export class BudgetReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.flatMap((module) => {
      const { cpuSeconds } = module.meta();
      if (!held.includes(module.project.name)) return [];
      const file = relative(module.project.config.root, module.moduleId);
      return cpuSeconds === undefined
        ? []
        : [{ file, cpuSeconds, budget: Math.max(budgets[file] ?? 0, defaultBudget) }];
    });
    const over = files.filter(({ cpuSeconds, budget }) => cpuSeconds > tolerance * budget);
    const longest = files.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds).slice(0, printedMax);
    const total = files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    console.log(`\n CPU time of ${files.length} test files: ${total.toFixed(0)} s; most, with the budget:`);
    for (const one of longest) console.log(`   ${describe(one)}`);
    for (const one of over) console.log(` over ${tolerance} times the budget: ${describe(one)}`);
    if (over.length > 0 && env.HOLD_TEST_BUDGETS !== undefined) process.exitCode = 1;
  }
}

const describe = ({ file, cpuSeconds, budget }: { file: string; cpuSeconds: number; budget: number }) =>
  `${cpuSeconds.toFixed(1)} s of ${budget} s  ${file}`;

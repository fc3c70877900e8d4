import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the version of package.json is repeated, for programs that cannot read it there. The first group is
 * the version.
 */
const places: readonly [glob: string, version: RegExp][] = [
  ['{lab,sdk/typescript}/package.json', /^ {2}"version": "(.*)"/m],
  ['package-lock.json', /"name": "(?:weir|@weir\/\w+)",\n *"version": "(.*)"/],
  ['sdk/python/pyproject.toml', /^version = "(.*)"/m],
  ['deploy/{compose/compose,kubernetes/**/kustomization}.yaml', /(?:newTag: |WEIR_VERSION:-)([\w.-]+)/],
  ['deploy/helm/weir/Chart.yaml', /^(?:v|appV)ersion: "?([\w.-]+)/m],
  ['README.md', /weir-(\d[\w.-]*)\.tgz/],
  ['CHANGELOG.md', /^## (\S+)/m],
];

/** @returns a line for each file that has another version than package.json. */
export function findVersionDifferences(root: string): string[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const { version }: { version: string } = JSON.parse(read('package.json'));
  return places.flatMap(([glob, pattern]) =>
    globSync(glob, { cwd: root }).flatMap((file) => {
      const text = read(file);
      // The changelog has the versions before it, too.
      const all = [...text.matchAll(new RegExp(pattern, 'gm'))].map(([, one]) => one);
      const named = glob === 'CHANGELOG.md' ? all.slice(0, 1) : all;
      const different = named.filter((one) => one !== version);
      return different.length === 0
        ? []
        : [`${file} has version ${different[0]}, package.json has ${version}`];
    }),
  );
}

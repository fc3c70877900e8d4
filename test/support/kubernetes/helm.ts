import { env } from 'node:process';
import { runShell } from '../../../harness/tools/shell.ts';
import { buildGoProgram } from '../tools/go-program.ts';
import type { KubernetesObject } from './objects.ts';

/**
 * Prints each object of a chart as a document of YAML on a line of its own, in JSON, as `helm template`
 * would.
 */
const program = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	chart, err := loader.Load(os.Args[1])
	must(err)
	own := map[string]interface{}{}
	must(json.Unmarshal([]byte(os.Args[3]), &own))
	release := chartutil.ReleaseOptions{Name: "weir", Namespace: os.Args[2], IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, own, release, nil)
	must(err)
	files, err := engine.Engine{Strict: true}.Render(chart, values)
	must(err)
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, document := range strings.Split(text, "\\n---\\n") {
			object, err := yaml.YAMLToJSONStrict([]byte(document))
			must(err)
			fmt.Printf("---\\n%s\\n", object)
		}
	}
}
`;

/** Building the modules of Helm takes minutes the first time. */
const renderTimeoutMs = 120_000;

/** `helm template` of a chart's folder, with strict templates: a value that does not exist is an error. */
export type Helm = (
  chart: string,
  options: { namespace: string; values: object },
) => Promise<KubernetesObject[]>;

/** @throws PackagesUnreachableError */
export async function buildHelm(): Promise<Helm> {
  const binary = await buildGoProgram('helm', ['helm.sh/helm/v3@v3.19.0'], { program });
  return async (chart, { namespace, values }) => {
    const { exitCode, stdout, stderr } = await runShell(
      `'${binary}' . '${namespace}' '${JSON.stringify(values)}'`,
      { cwd: chart, env, timeoutMs: renderTimeoutMs },
    );
    if (exitCode !== 0) throw new Error(`the chart cannot be rendered: ${stderr}`);
    const documents = stdout.split('---\n').filter((document) => document !== '');
    return documents.map((document) => ({ metadata: {}, ...JSON.parse(document) }));
  };
}

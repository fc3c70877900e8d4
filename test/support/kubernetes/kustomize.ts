import { env } from 'node:process';
import { runShell } from '../../../harness/tools/shell.ts';
import { buildGoProgram } from '../tools/go-program.ts';
import type { KubernetesObject } from './objects.ts';

/** Prints each object as a document of YAML on a line of its own, in JSON. */
const program = `package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, object := range objects.Resources() {
		text, err := object.MarshalJSON()
		if err != nil {
			panic(err)
		}
		fmt.Printf("---\\n%s\\n", text)
	}
}
`;

/** Building a folder of a few files takes a second, longer on a busy machine. */
const renderTimeoutMs = 120_000;

/** `kustomize build` of a folder. */
export type Kustomize = (folder: string) => Promise<{ yaml: string; objects: KubernetesObject[] }>;

/** @throws PackagesUnreachableError */
export async function buildKustomize(): Promise<Kustomize> {
  const binary = await buildGoProgram('kustomize', ['sigs.k8s.io/kustomize/api@v0.20.1'], { program });
  return async (folder) => {
    const { exitCode, stdout, stderr } = await runShell(`'${binary}' .`, {
      cwd: folder,
      env,
      timeoutMs: renderTimeoutMs,
    });
    if (exitCode !== 0) throw new Error(`${folder} cannot be built: ${stderr}`);
    const documents = stdout.split('---\n').filter((document) => document !== '');
    return { yaml: stdout, objects: documents.map((document) => JSON.parse(document)) };
  };
}

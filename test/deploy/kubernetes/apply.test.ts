import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { writeHelmChart } from '../../../harness/release/helm-chart.ts';
import { PackagesUnreachableError } from '../../../harness/tools/build-cache.ts';
import { findMissingTool } from '../../../harness/tools/toolchain.ts';
import { type ApiResponse, type KubernetesApi, pathOf } from '../../support/kubernetes/api.ts';
import {
  buildControlPlane,
  controlPlaneBuildMs,
  startControlPlane,
} from '../../support/kubernetes/control-plane.ts';
import { buildHelm, type Helm } from '../../support/kubernetes/helm.ts';
import { buildKustomize, type Kustomize } from '../../support/kubernetes/kustomize.ts';
import type { KubernetesObject } from '../../support/kubernetes/objects.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const files = join(root, 'deploy/kubernetes');
const noGo = findMissingTool(['go']);
const stack = new AsyncDisposableStack();
let unreachable = false;
let copy = '';
let kustomize: Kustomize;
let helm: Helm;
let api: KubernetesApi;

/** An overlay as an operator makes it: a copy of the example, in a namespace, with the image of a version. */
async function render(
  namespace: string,
  { base = '../../base', tag = '1.0.0' } = {},
): Promise<KubernetesObject[]> {
  const folder = join(copy, 'overlays', `${namespace}-${tag}`);
  cpSync(join(copy, 'overlays/example'), folder, { recursive: true });
  for (const name of ['secrets.env', 'nats-secrets.env'])
    cpSync(join(folder, `${name}.example`), join(folder, name));
  const file = join(folder, 'kustomization.yaml');
  const text = readFileSync(file, 'utf8')
    .replace('../../base', base)
    .replaceAll('namespace: weir', `namespace: ${namespace}`)
    .replace(/newTag: .*/, `newTag: ${tag}`);
  writeFileSync(file, text);
  return (await kustomize(folder)).objects;
}

async function applyAll(objects: readonly KubernetesObject[]): Promise<ApiResponse[]> {
  const responses: ApiResponse[] = [];
  for (const object of objects) responses.push(await api.apply(object));
  return responses;
}

/** What the API server did not admit, or admitted with a warning. */
function complaintsOf(objects: readonly KubernetesObject[], responses: readonly ApiResponse[]) {
  return objects.flatMap(({ kind, metadata: { name } }, at) => {
    const { status = 0, warning = null, body } = responses[at] ?? {};
    if (status >= 200 && status < 300 && warning === null) return [];
    return [{ object: `${kind} ${name}`, status, why: warning ?? body?.message }];
  });
}

async function expectApplied(objects: readonly KubernetesObject[]): Promise<ApiResponse[]> {
  const responses = await applyAll(objects);
  expect(complaintsOf(objects, responses)).toEqual([]);
  return responses;
}

/** The pod that a workload makes, with a claim for each of its templates. */
function podOf({ kind, metadata, spec }: KubernetesObject): KubernetesObject[] {
  if (spec?.template === undefined) return [];
  const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: name },
  }));
  const { template } = spec;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, ...metadata, name: `${kind.toLowerCase()}-${metadata.name}` },
    spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] },
  };
  return [pod as KubernetesObject]; // Its spec is that of a pod, which the tests do not read.
}

beforeAll(async () => {
  if (noGo !== undefined) return;
  copy = mkdtempSync(join(inject('runDirectory'), 'kubernetes-files-'));
  stack.defer(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(files, copy, { recursive: true });
  try {
    kustomize = await buildKustomize();
    helm = await buildHelm();
    const plane = stack.use(await startControlPlane(await buildControlPlane()));
    api = plane.api;
  } catch (error) {
    if (!(error instanceof PackagesUnreachableError)) throw error;
    unreachable = true;
  }
}, controlPlaneBuildMs);
afterAll(() => stack.disposeAsync());
beforeEach((context) => context.skip(unreachable, 'the modules of Kubernetes cannot be downloaded'));

describe.skipIf(noGo !== undefined)(
  `on an API server${noGo ? `: ${noGo}` : ''}`,
  { timeout: 300_000 },
  () => {
    test.each([
      ['base', '../../base'],
      ['small', '../small'],
    ])(
      '%s is admitted strictly, without a warning, and applying it again changes nothing',
      async (name, base) => {
        const namespace = `first-${name}`;
        const objects = await render(namespace, { base });
        const versionsOf = (responses: readonly ApiResponse[]) =>
          responses.map(({ body }) => `${body.kind} ${body.metadata.name} ${body.metadata.resourceVersion}`);
        const first = versionsOf(await expectApplied(objects));
        expect(versionsOf(await expectApplied(objects))).toEqual(first);
        expect(objects.length).toBeGreaterThan(20);
        expect(objects.filter(({ metadata }) => (metadata.namespace ?? metadata.name) !== namespace)).toEqual(
          [],
        );

        // A controller does this in a cluster.
        const account = {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'default', namespace },
        };
        await expectApplied([account]);
        const create = (pod: KubernetesObject) =>
          api.send('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`, {
            type: 'application/json',
            value: pod,
          });
        const pods = objects.flatMap(podOf);
        expect(pods).toHaveLength(6);
        const created = await Promise.all(pods.map(create));
        expect(complaintsOf(pods, created)).toEqual([]);
        // The namespace refuses pods with more rights.
        const [pod] = pods.map((one) => ({ ...one, spec: { ...one.spec, hostNetwork: true } }));
        expect(pod && (await create(pod))).toMatchObject({
          status: 403,
          body: { message: expect.stringContaining('violates PodSecurity "restricted') },
        });
      },
    );

    test('an upgrade replaces the job and every image, and keeps what the autoscaler chose', async () => {
      const namespace = 'upgraded';
      const old = await render(namespace);
      await expectApplied(old);
      const scale = `/apis/apps/v1/namespaces/${namespace}/deployments/ingest/scale?fieldManager=autoscaler`;
      const value = { spec: { replicas: 7 } };
      expect(await api.send('PATCH', scale, { type: 'application/merge-patch+json', value })).toMatchObject({
        status: 200,
      });

      const objects = await render(namespace, { tag: '1.1.0' });
      const jobs = objects.filter(
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'migrate',
      );
      const [job] = jobs;
      if (job === undefined) throw new Error('no object has the label with which an upgrade applies the job');
      expect(jobs).toMatchObject([{ kind: 'Job' }]);
      // Why the job of the version before is deleted first.
      expect(complaintsOf(jobs, await applyAll(jobs))).toMatchObject([
        { status: 422, why: expect.stringContaining('field is immutable') },
      ]);
      expect(await api.send('DELETE', `${pathOf(job)}?propagationPolicy=Background`)).toMatchObject({
        status: 200,
      });
      await expectApplied(jobs);
      const applied = await expectApplied(objects);
      const images = applied.flatMap(
        ({ body }) => body.spec?.template?.spec.containers.map(({ image }) => image) ?? [],
      );
      expect(images.filter((image) => !image.startsWith('nats:'))).toEqual(
        Array(5).fill('registry.example.com/weir:1.1.0'),
      );
      const ingest = applied.find(
        ({ body }) => body.kind === 'Deployment' && body.metadata.name === 'ingest',
      );
      expect(ingest?.body.spec?.replicas).toBe(7);
    });

    test('the Helm chart makes what the base makes, from its values, and is admitted strictly', async () => {
      const namespace = 'charted';
      const chart = join(copy, 'chart');
      writeHelmChart(root, chart);
      const values = {
        image: { repository: 'registry.example.com/weir', tag: '1.0.0' },
        writer: { replicas: 5 },
      };
      const objects = (await helm(chart, { namespace, values })).map((object) => ({
        ...object,
        metadata: { ...object.metadata, namespace },
      }));
      // The names of Kustomize's configuration end with a hash.
      const named = (all: readonly KubernetesObject[]) =>
        all
          .map(({ kind, metadata: { name } }) => `${kind} ${name.replace(/-[a-z0-9]{10}$/, '')}`)
          .filter((one) => !/^(?:Namespace|Secret) /.test(one))
          .toSorted();
      expect(named(objects)).toEqual(named(await render(namespace)));
      await expectApplied([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
      const applied = await expectApplied(objects);
      const replicasOf = (name: string) =>
        applied.find(({ body }) => body.kind === 'Deployment' && body.metadata.name === name)?.body.spec
          ?.replicas;
      expect([replicasOf('writer'), replicasOf('dashboard-api')]).toEqual([5, 2]);
    });

    test('the base over `small` is refused for nats: a cluster would delete the events of the single server', async () => {
      const namespace = 'grown';
      await expectApplied(await render(namespace, { base: '../small' }));
      const objects = await render(namespace);
      expect(complaintsOf(objects, await applyAll(objects))).toMatchObject([
        { object: 'StatefulSet nats', status: 422, why: expect.stringContaining('Forbidden') },
      ]);
    });
  },
);

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files of the Kubernetes base that are templates of the chart. The namespace and the configuration are
 * Helm's.
 */
const files = ['nats', 'ingest', 'writer', 'dashboard-api', 'network-policies', 'migrate', 'commands'];

/** Pods restart when their configuration changes; with Kustomize the names of the configuration do that. */
const restartOnChange =
  'checksum/config: {{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}';

/** What the values of the chart replace in the base. Each occurs. */
const replacements: readonly [file: string, what: RegExp, by: string][] = [
  ...['ingest', 'writer', 'dashboard-api', 'migrate', 'commands'].map((file): [string, RegExp, string] => [
    file,
    /image: weir$/gm,
    'image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"',
  ]),
  ...['ingest', 'writer', 'dashboard-api'].map((file): [string, RegExp, string] => [
    file,
    /^( +)annotations:$/gm,
    `$&\n$1  ${restartOnChange}`,
  ]),
  [
    'nats',
    /^( +)labels: \{ app\.kubernetes\.io\/name: nats \}$/gm,
    `$&\n$1annotations:\n$1  ${restartOnChange}`,
  ],
  ['nats', /image: nats:.*/g, 'image: {{ .Values.nats.image | quote }}'],
  ['nats', /storage: \w+/g, 'storage: {{ .Values.nats.storage | quote }}'],
  ['ingest', /minReplicas: \d+/g, 'minReplicas: {{ .Values.ingest.minReplicas }}'],
  ['ingest', /maxReplicas: \d+/g, 'maxReplicas: {{ .Values.ingest.maxReplicas }}'],
  ['writer', /replicas: \d+/g, 'replicas: {{ .Values.writer.replicas }}'],
  ['dashboard-api', /replicas: \d+/g, 'replicas: {{ .Values.dashboardApi.replicas }}'],
  ['dashboard-api', /https:\/\/weir\.example\.com/g, '{{ .Values.dashboardUrl | quote }}'],
  ['dashboard-api', /https:\/\/ingest\.example\.com/g, '{{ .Values.ingestUrl | quote }}'],
  ['dashboard-api', /10\.0\.0\.0\/8/g, '{{ .Values.trustedProxies | quote }}'],
  // Before the services, at each installation and upgrade.
  [
    'migrate',
    /^( +)name: migrate\n/m,
    `$&$1annotations:\n$1  helm.sh/hook: pre-install,pre-upgrade\n$1  helm.sh/hook-delete-policy: before-hook-creation\n`,
  ],
];

/**
 * Writes the Helm chart to a folder: what is the chart's own, and templates made of the Kubernetes base,
 * which stays the one place that says what runs.
 *
 * @throws Error when the base has changed such that a value has no place.
 */
export function writeHelmChart(root: string, folder: string): void {
  cpSync(join(root, 'deploy/helm/weir'), folder, { recursive: true });
  const base = join(root, 'deploy/kubernetes/base');
  cpSync(join(base, 'nats.conf'), join(folder, 'nats.conf'));
  mkdirSync(join(folder, 'templates'), { recursive: true });
  for (const file of files) {
    let text = readFileSync(join(base, `${file}.yaml`), 'utf8');
    for (const [, what, by] of replacements.filter(([name]) => name === file)) {
      const replaced = text.replace(what, by);
      if (replaced === text) throw new Error(`deploy/kubernetes/base/${file}.yaml has nothing like ${what}`);
      text = replaced;
    }
    writeFileSync(join(folder, 'templates', `${file}.yaml`), text);
  }
}
